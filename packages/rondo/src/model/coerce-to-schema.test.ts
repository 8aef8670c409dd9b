import { expect, test } from "vitest";
import { coerceToSchema } from "./coerce-to-schema.ts";

test.each([
  ["5", { type: "number" }, 5],
  [" 5 ", { type: "integer" }, 5],
  ["-1.5e2", { type: "number" }, -150],
  ["5.5", { type: "integer" }, "5.5"],
  ["05", { type: "number" }, "05"],
  ["0x10", { type: "number" }, "0x10"],
  ["", { type: "number" }, ""],
  ["12345678901234567890", { type: "integer" }, "12345678901234567890"],
  ["5", { type: "string" }, "5"],
  ["5", { type: ["string", "number"] }, "5"],
  ["5", {}, "5"],
  ["true", { type: "boolean" }, true],
  ["False", { type: "boolean" }, false],
  ["yes", { type: "boolean" }, "yes"],
  ["null", { type: ["number", "null"] }, null],
  ["None", { anyOf: [{ type: "number" }, { type: "null" }] }, null],
  ["[1, 2]", { type: "array" }, [1, 2]],
  ['["1"]', { type: "array", items: { type: "number" } }, [1]],
  ['{"a": "1"}', { type: "object", properties: { a: { type: "number" } } }, { a: 1 }],
  ["{broken", { type: "object" }, "{broken"],
  ["2", { enum: [1, 2] }, 2],
  ["a", { enum: ["a", 1] }, "a"],
  [{ n: "1", m: "1" }, { properties: { n: { type: "number" } } }, { n: 1, m: "1" }],
  [{ n: "1" }, { additionalProperties: { type: "number" } }, { n: 1 }],
  [{ n: "1" }, { properties: { n: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } }, { n: 1 }],
  [{ n: "1" }, { properties: { n: { $ref: "#/properties/n" } } }, { n: "1" }],
  [["1"], { items: { type: "number" } }, [1]],
])("%j for %j is %j", (value, schema, expected) => {
  expect(coerceToSchema(value, schema)).toEqual(expected);
});

test("an unchanged value is returned itself", () => {
  const value = { a: [1, { b: "x" }] };
  expect(coerceToSchema(value, { properties: { a: { items: { type: "object" } } } })).toBe(value);
});

test("a key named __proto__ stays a key", () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "n": "1"}') as object;
  const result = coerceToSchema(value, { properties: { n: { type: "number" } } });
  expect(JSON.stringify(result)).toBe('{"__proto__":{"x":1},"n":1}');
});

test("a number that is too large, and nesting without end, stay text", () => {
  expect(coerceToSchema("[1e999]", { type: "array" })).toBe("[1e999]");
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  expect(coerceToSchema(deep, { type: "array", items: { $ref: "#" } })).toBe(deep);
});

test("values below the depth limit are left unchanged", () => {
  let value: unknown = "1";
  for (let i = 0; i < 100_000; i++) value = [value];
  const schema = { anyOf: [{ type: "number" }, { items: { $ref: "#" } }] };
  expect(coerceToSchema(value, schema)).toBe(value);
});

test("a part of the schema is worked out once, however many values it is for", () => {
  let looked = 0;
  const items = {
    get anyOf() {
      looked++;
      return [{ type: "number" }];
    },
  };
  expect(
    coerceToSchema(
      Array.from({ length: 1000 }, () => "1"),
      { items },
    ),
  ).toHaveLength(1000);
  expect(looked).toBe(1);
});
