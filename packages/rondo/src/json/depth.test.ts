import { expect, test } from "vitest";
import { isTooDeep } from "./depth.ts";

const deep = (levels: number) =>
  JSON.parse(`${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}`) as unknown;

test.each<[unknown, boolean]>([
  [1, false],
  [{}, false],
  [deep(10), false],
  [deep(12), true],
  [deep(100_000), true],
  [[1, "a", null, deep(8), deep(10)], true],
])("detects data of more than 10 levels", (value, expected) => {
  expect(isTooDeep(value, 10)).toBe(expected);
});

test("terminates on cyclic data, and skips class instances", () => {
  const cyclic: Record<string, unknown> = { map: new Map(), bytes: new Uint8Array(3) };
  cyclic["self"] = [cyclic, cyclic];
  expect(isTooDeep(cyclic, 10)).toBe(false);
});
