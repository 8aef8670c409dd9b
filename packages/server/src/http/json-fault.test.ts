import fc from "fast-check";
import { expect, test } from "vitest";
import { findJsonFault } from "./json-fault.ts";

test.each([
  ["", 1, 1, "the end"],
  ['{"a": 1,}', 1, 9, '"}"'],
  ['{\n  "a": tru\n}', 2, 8, '"t"'],
  ['{"a": "b\n"}', 1, 9, '"\\n"'],
  ['{"a": "\\x"}', 1, 8, '"\\\\"'],
  ['{"a": "b', 1, 9, "the end"],
  ["[1 2]", 1, 4, '"2"'],
  ["{a: 1}", 1, 2, '"a"'],
  ["[1]]", 1, 4, '"]"'],
  ["[}", 1, 2, '"}"'],
  ['{"a" 1}', 1, 6, '"1"'],
  ["[01]", 1, 3, '"1"'],
  ["[🎵]", 1, 2, '"🎵"'],
])("%j goes wrong at line %i, column %i", (text, line, column, found) => {
  expect(findJsonFault(text)).toEqual({ line, column, found });
});

test("it finds a fault exactly where the runtime does not take the text", () => {
  const mutated = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom("", '"', "{", "]", ",", ":", "\\", "1", "\n", "t", "-", ".", "e"),
    )
    .map(([json, at, insert]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + insert + json.slice(place + (at % 3));
    });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string()), (text) => {
      expect(findJsonFault(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 2000 },
  );
});

test("long and deep texts do not exhaust the stack", () => {
  expect(findJsonFault(`["${"x".repeat(5_000_000)}`)?.column).toBe(5_000_003);
  expect(findJsonFault("[".repeat(1_000_000))?.column).toBe(1_000_001);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
