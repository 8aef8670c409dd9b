import fc from "fast-check";
import { expect, test } from "vitest";
import { sameJson } from "./same-json.ts";

test("two values are the same exactly if their JSON is", () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(sameJson(one, other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      expect(sameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true);
    }),
  );
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false);
  expect(sameJson([], {})).toBe(false);
});
