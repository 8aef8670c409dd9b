import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { quickCheck } from "./quick-check.ts";

const { schema: plainSchema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object"),
      description: fc.constant("a note"),
    }),
    fc.record({ type: fc.constant("array"), items: tie("schema") }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 3 }),
      required: fc.uniqueArray(fc.constantFrom("a", "b")),
    }),
  ),
}));

const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1.5, -3, "text", "", true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 3 }),
  ),
}));

test("says of a plain schema what the validator says", () => {
  let fitting = 0;
  fc.assert(
    fc.property(plainSchema, jsonValue, (schema, value) => {
      const isFine = quickCheck(schema)?.(value);
      expect(isFine).toBe(new Validator(structuredClone(schema), "2020-12").validate(value).valid);
      if (isFine) fitting += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(fitting).toBeGreaterThan(20);
});

test("counts a value of nothing as absent, and only the object's own keys", () => {
  const check = quickCheck({
    type: "object",
    properties: { a: { type: "number" }, constructor: { type: "string" } },
    required: ["a"],
  });
  expect(check?.({ a: undefined })).toBe(false);
  expect(check?.({ a: 1, constructor: undefined })).toBe(true);
  expect(check?.({ a: 1 })).toBe(true);
  expect(check?.(Object.create({ a: 1 }))).toBe(false);
});

test("leaves what is no JSON to the validator", () => {
  expect(quickCheck({ type: "number" })?.(Number.NaN)).toBe(false);
  expect(quickCheck({ type: "object" })?.(new Date())).toBe(false);
});

test.each([
  { type: "string", minLength: 1 },
  { type: "number", minimum: 0 },
  { type: ["string", "null"] },
  { type: "object", additionalProperties: false },
  { type: "object", properties: { a: { type: "string", pattern: "^x" } } },
  { type: "array", items: { $ref: "#" } },
  { type: "array", items: true },
  { type: "string", enum: ["a"] },
  { enum: ["a"] },
  {},
  true,
])("does not judge %j", (schema) => {
  expect(quickCheck(schema)).toBeUndefined();
});
