// The page that lists how this server differs from the public schema says what the tests allow, and no more.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deviations } from "./testkit/deviations.ts";

test("docs/compatibility.md lists exactly the deviations that the tests allow", () => {
  const page = readFileSync(new URL("../../../../docs/compatibility.md", import.meta.url), "utf8");
  const [, list] = /<!-- deviations:.*?-->\n([\s\S]*?)<!-- \/deviations -->/.exec(page) ?? [];
  expect(list).toBe(`\n${deviations.map(({ text }) => `- ${text}\n`).join("")}\n`);
});
