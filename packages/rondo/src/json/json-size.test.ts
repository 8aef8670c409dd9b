import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSize } from "./json-size.ts";

test("is close to what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: true }), (value) => {
      const written = JSON.stringify(JSON.parse(JSON.stringify(value).replaceAll(/\\./g, "_"))).length;
      const size = jsonSize(JSON.parse(JSON.stringify(value).replaceAll(/\\./g, "_")), 1_000_000);
      expect(Math.abs(size - written)).toBeLessThanOrEqual(Math.max(8, written));
    }),
  );
});

test("stops at the most that is allowed, and needs no stack", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;
  expect(jsonSize(deep, 1_000_000)).toBe(299_999);
  expect(jsonSize(["x".repeat(100), "y"], 100)).toBe(Number.POSITIVE_INFINITY);
});
