import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileJsonSchema, type JsonSchema } from "../tool/json-schema.ts";
import { fillSchema } from "./fill-schema.ts";

const material = { texts: ["Paris"], numbers: [3, 4.5], said: "Is it cold in Paris?" };
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

describe("a value for a schema", () => {
  test.each<[JsonSchema, unknown]>([
    [object({ city: { type: "string" } }), { city: "Paris" }],
    [object({ a: { type: "number" }, b: { type: "number" } }), { a: 3, b: 4.5 }],
    [object({ a: { type: "integer" }, b: { type: "integer" } }), { a: 3, b: 5 }],
    [object({ a: { type: "number", minimum: 10 } }), { a: 10 }],
    [object({ a: { type: "integer", exclusiveMaximum: 3 } }), { a: 2 }],
    [object({ a: { enum: ["warm", "cold"] } }), { a: "cold" }],
    [object({ a: { enum: ["x", "y"] } }), { a: "x" }],
    [object({ a: { const: 7 } }), { a: 7 }],
    [object({ a: { type: "string", default: "b" } }), { a: "b" }],
    [object({ a: { type: ["null", "boolean"] } }), { a: false }],
    [object({ a: { anyOf: [{ type: "null" }, { type: "string", maxLength: 2 }] } }), { a: "Pa" }],
    [object({ a: { type: "string", minLength: 7 } }), { a: "Paris.." }],
    [object({ a: { type: "string", format: "email" } }), { a: "demo@example.com" }],
    [object({ a: { type: "array", items: { type: "number" } } }), { a: [3, 4.5] }],
    [object({ a: { type: "array", items: { type: "string" }, minItems: 2 } }), { a: ["Paris", "Paris"] }],
    [{ type: "object", properties: { a: { type: "string" } } }, {}],
    [
      { $defs: { a: object({ b: { type: "string" } }) }, ...object({ c: { $ref: "#/$defs/a" } }) },
      { c: { b: "Paris" } },
    ],
  ])("%j", (schema, expected) => {
    expect(fillSchema(schema, material)).toEqual(expected);
  });

  test("has optional numbers only while there are any", () => {
    const optional = { type: "number" };
    const schema = { type: "object", properties: { a: optional, b: optional, c: optional } };
    expect(fillSchema(schema, material)).toEqual({ a: 3, b: 4.5 });
  });

  test.each<JsonSchema>([
    { type: "nonsense" },
    { not: {} },
    { type: "array", minItems: 1_000_000, items: {} },
    { $ref: "#/$defs/nowhere" },
    {
      $defs: { a: object({ left: { $ref: "#/$defs/a" }, right: { $ref: "#/$defs/a" } }) },
      $ref: "#/$defs/a",
    },
  ])("is not made for a schema that cannot be filled: %j", (schema) => {
    expect(fillSchema(schema, material)).toBeUndefined();
  });

  test("fits every simple schema", () => {
    fc.assert(
      fc.property(simpleSchemas, materials, (schema, material) => {
        const value = fillSchema(schema, material);
        expect(value).toBeDefined();
        expect(compileJsonSchema(schema)(value)).toEqual([]);
      }),
    );
  });

  test("fits or is not made, for any schema", () => {
    const keywords = fc.constantFrom(
      "type",
      "properties",
      "required",
      "items",
      "enum",
      "anyOf",
      "allOf",
      "$ref",
      "minimum",
    );
    const anything = fc.dictionary(
      keywords,
      fc.oneof(fc.jsonValue(), fc.constantFrom("object", "array", "#", "number")),
    );
    fc.assert(
      fc.property(anything, materials, (schema, material) => {
        const value = fillSchema(schema, material);
        return value === undefined || compileJsonSchema(schema)(value).length === 0;
      }),
    );
  });
});

const materials = fc.record({
  texts: fc.array(fc.string(), { maxLength: 3 }),
  numbers: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 3 }),
  said: fc.string(),
});

const simpleSchemas = fc.letrec<{ object: JsonSchema; any: JsonSchema }>((tie) => ({
  object: fc.dictionary(fc.string(), tie("any"), { maxKeys: 4 }).map((properties) => object(properties)),
  any: fc.oneof(
    { maxDepth: 2 },
    fc.record({ type: fc.constantFrom("string", "boolean", "null") }),
    fc.record({ type: fc.constant("string"), maxLength: fc.nat(20) }),
    fc.record({ type: fc.constantFrom("number", "integer"), minimum: fc.integer({ min: -50, max: 50 }) }),
    fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
    fc.record({ type: fc.constant("array"), items: tie("any"), minItems: fc.nat(3) }),
    tie("object"),
  ),
})).object;
