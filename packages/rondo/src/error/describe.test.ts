import { expect, test } from "vitest";
import { describe } from "./describe.ts";

class Box {
  size = 1;
}
const Nameless = (() =>
  class {
    size = 1;
  })();

test.each<[unknown, string]>([
  [undefined, "nothing"],
  [null, "null"],
  [42, "42"],
  [Number.NaN, "NaN"],
  [true, "true"],
  [12n, "12n"],
  [Symbol("s"), "Symbol(s)"],
  ["text", '"text"'],
  ['a "quote"', '"a \\"quote\\""'],
  [[1, 2, 3], "an array of 3"],
  [{}, "{}"],
  [{ a: 1, b: 2 }, "an object with a, b"],
  [Object.create(null), "{}"],
  [new Date(0), "an instance of Date"],
  [new Box(), "an instance of Box"],
  [new Nameless(), "an object"],
  [function named() {}, "the function 'named'"],
  [(() => () => {})(), "a function"],
])("%o is described as %s", (value, words) => {
  expect(describe(value)).toBe(words);
});

test("a long text is cut, so that a message stays readable", () => {
  expect(describe("x".repeat(1_000))).toBe(`"${"x".repeat(60)}…"`);
});

test("a long list of keys is cut", () => {
  const keys = Array.from({ length: 100 }, (_, index) => [`key${index}`, 1]);
  expect(describe(Object.fromEntries(keys)).length).toBeLessThan(100);
});
