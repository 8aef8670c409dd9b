import { describe, expect, test } from "vitest";
import { formFieldsOf, readFields, readJson } from "./tool-form.ts";

const schema = {
  type: "object",
  properties: {
    city: { type: "string", description: "Where" },
    days: { type: "integer", default: 3 },
    unit: { enum: ["c", "f", 1] },
    exact: { type: "boolean" },
    factor: { $ref: "#/$defs/factor" },
  },
  required: ["city"],
  $defs: { factor: { type: "number" } },
};

const variants = [
  { properties: { a: { type: "string" } }, required: ["a"] },
  { properties: { b: { type: "string" } }, required: ["b"] },
];

describe("the form of a tool", () => {
  test("has a field for each argument of a flat object", () => {
    const fields = formFieldsOf(schema);
    expect(fields?.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial])).toEqual([
      ["city", "text", true, ""],
      ["days", "integer", false, "3"],
      ["unit", "choice", false, ""],
      ["exact", "boolean", false, ""],
      ["factor", "number", false, ""],
    ]);
  });

  test.each([
    [undefined],
    [true],
    [{ type: "array" }],
    [{ type: "object", properties: { list: { type: "array" } } }],
    [{ type: "object", properties: { inner: { type: "object" } } }],
    [{ type: "object", properties: { any: {} } }],
    [{ type: "object", properties: { none: { enum: [] } } }],
    [{ type: "object", properties: { loop: { $ref: "#/properties/loop" } } }],
    [
      {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [i, { type: "string" }])),
      },
    ],
  ])("is JSON for what is not flat: %j", (given) => {
    expect(formFieldsOf(given)).toBeUndefined();
  });

  test.each([
    [{ type: "object", additionalProperties: true }],
    [{ type: "object", additionalProperties: { type: "string" } }],
    [{ type: "object", properties: {}, additionalProperties: {} }],
    [{ type: "object", patternProperties: { "^x-": { type: "string" } } }],
    [{ type: "object", $ref: "#/$defs/place", $defs: { place: schema } }],
    [{ type: "object", if: { required: ["a"] }, else: { required: ["b"] } }],
    [{ type: "object", allOf: [schema] }],
    [{ type: "object", anyOf: variants }],
    [{ type: "object", oneOf: variants }],
  ])("is JSON for arguments that its properties do not name: %j", (given) => {
    expect(formFieldsOf(given)).toBeUndefined();
  });

  test.each([
    [{ type: "object" }],
    [{ type: "object", properties: {} }],
    [{ type: "object", properties: {}, additionalProperties: false }],
  ])("is empty for a tool without arguments: %j", (given) => {
    expect(formFieldsOf(given)).toEqual([]);
  });

  test("stays a form if other keys are only allowed besides its fields", () => {
    expect(formFieldsOf({ ...schema, additionalProperties: true })).toHaveLength(5);
  });

  test("gives the arguments with their types, without empty ones", () => {
    const fields = formFieldsOf(schema) ?? [];
    const entered = new Map(
      Object.entries({ city: "Bern", days: "2", unit: "1", exact: "false", factor: "" }),
    );
    expect(readFields(fields, entered).arguments).toEqual({ city: "Bern", days: 2, unit: 1, exact: false });
  });

  test.each([
    ["integer", null, ""],
    ["integer", 2.5, ""],
    ["integer", 0, "0"],
    ["number", null, ""],
    ["number", "2", ""],
    ["number", 2.5, "2.5"],
    ["boolean", null, ""],
    ["boolean", "true", ""],
    ["boolean", false, "false"],
  ])("begins with a default of the type of its field: %s, %j", (type, initial, text) => {
    const fields = formFieldsOf({ type: "object", properties: { a: { type, default: initial } } });
    expect(fields?.[0]?.initial).toBe(text);
  });

  test("takes spaces for a text, and for no number", () => {
    const fields = formFieldsOf(schema) ?? [];
    const entered = new Map(Object.entries({ city: " ", days: " ", factor: "\t" }));
    expect(readFields(fields, entered).arguments).toEqual({ city: " " });
    const needed = formFieldsOf({ ...schema, required: ["days"] }) ?? [];
    expect([...readFields(needed, entered).problems.keys()]).toEqual(["days"]);
  });

  test("says what is missing or of another type", () => {
    const fields = formFieldsOf(schema) ?? [];
    const { problems, ...rest } = readFields(
      fields,
      new Map([
        ["days", "2.5"],
        ["factor", "x"],
      ]),
    );
    expect(rest).toEqual({});
    expect([...problems.keys()]).toEqual(["city", "days", "factor"]);
  });

  test("keeps names that objects have anyway", () => {
    const hostile = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"string"}}}',
    );
    const fields = formFieldsOf(hostile) ?? [];
    const entered = new Map([
      ["__proto__", "a"],
      ["toString", "b"],
    ]);
    expect(JSON.stringify(readFields(fields, entered).arguments)).toBe('{"__proto__":"a","toString":"b"}');
    expect(readFields(fields, new Map()).arguments).toEqual({});
  });

  test.each([
    ["{", "not JSON"],
    ["[]", "an object"],
    ["1", "an object"],
  ])("refuses the JSON %s", (text, words) => {
    expect(readJson(text).problems.get("")).toContain(words);
  });

  test("takes an object as JSON", () => {
    expect(readJson('{"a":[1]}').arguments).toEqual({ a: [1] });
  });
});
