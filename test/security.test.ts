// The tests that the threat model cites exist.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/security.md"), "utf8");
const folders: Readonly<Record<string, string>> = { S: "packages/server/src", R: "packages/rondo/src" };

/** `S/http/app.test.ts` › "one", "two"; `R/…`: each file with the test names that follow it. */
function citations(): [path: string, names: string[]][] {
  return [...page.matchAll(/`([SR])\/([\w./-]+\.ts)`((?:(?!`[SR]\/)[^|\n])*)/g)].map(
    ([, folder, path, rest]) => [
      `${folders[folder as string]}/${path}`,
      [...(rest as string).matchAll(/"([^"]+)"/g)].map(([, name]) => name as string),
    ],
  );
}

const cited = citations();

describe("docs/security.md", () => {
  test("has a section for each actor, and a test in each row", () => {
    for (const actor of [
      "Client",
      "Other owner",
      "Web page",
      "Model",
      "Model server",
      "MCP server",
      "Operator",
    ])
      expect(page).toContain(`\n## ${actor}\n`);
    const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| can"));
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter((row) => !/`[SR]\/[^`]+\.ts`/.test(row) && !row.includes("| | |"))).toEqual([]);
  });

  test.each(cited)("cites existing tests of %s", (path, names) => {
    expect(existsSync(join(root, path))).toBe(true);
    const source = readFileSync(join(root, path), "utf8").replaceAll('\\"', '"');
    expect(names.filter((name) => !source.includes(name))).toEqual([]);
  });
});
