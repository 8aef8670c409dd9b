// Each row of the table of `npm run quirks`.
import { setLogger } from "rondo";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quirks } from "./cases/all.ts";
import { quirkClasses } from "./quirk-case.ts";
import { runWithRondo } from "./rondo-runner.ts";
import { runCase } from "./run-case.ts";

const warnings: string[] = [];
beforeAll(() => setLogger({ warn: (message) => warnings.push(message) }));
afterAll(() => setLogger());

describe.each(quirkClasses)("%s", (kind) => {
  test.each(quirks[kind])("$name", async (quirk) => {
    expect(await runCase(quirk, runWithRondo)).toEqual([]);
  });
});

test("a client that does nothing passes no case", async () => {
  const doNothing = async () => ({ text: "", thinking: "", ran: [] });
  const cases = quirkClasses
    .flatMap((kind) => quirks[kind])
    .filter(({ leave, timeoutMs }) => !leave && !timeoutMs);
  const results = await Promise.all(cases.map((quirk) => runCase(quirk, doNothing)));
  expect(cases.filter((_, i) => results[i]?.length === 0)).toEqual([]);
});

test("there are at least 40 cases, with unique names", () => {
  const names = quirkClasses.flatMap((kind) => quirks[kind].map(({ name }) => `${kind}: ${name}`));
  expect(names.length).toBeGreaterThanOrEqual(40);
  expect(new Set(names).size).toBe(names.length);
});

test("no case is taken for a server that cuts prompts, or for a prompt that changed", () => {
  const alarms = ["read only", "does not begin with the one before"];
  expect(warnings.filter((message) => alarms.some((alarm) => message.includes(alarm)))).toEqual([]);
});
