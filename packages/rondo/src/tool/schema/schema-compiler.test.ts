import { type Schema, Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileJsonSchema, type JsonSchema } from "../json-schema.ts";
import { SchemaCompiler } from "./schema-compiler.ts";
import { Validation } from "./validation.ts";

const fits = (schema: object, value: unknown) => compileJsonSchema(schema as JsonSchema)(value).length === 0;
const messageOf = (schema: object, value: unknown) =>
  compileJsonSchema(schema as JsonSchema)(value).map(({ message }) => message);

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(0, 1, 1.5, -3, "a", "ab", "", "2026-01-02", true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const { schema: anySchema } = fc.letrec<{ schema: object | boolean }>((tie) => {
  const one = tie("schema");
  const some = fc.array(one, { minLength: 1, maxLength: 2 });
  const byName = fc.dictionary(fc.constantFrom("a", "b"), one, { maxKeys: 2, noNullPrototype: true });
  const small = fc.nat(3);
  const types = ["string", "number", "integer", "boolean", "array", "object", "null"];
  const each: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(
      fc.constantFrom(...types),
      fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
    ),
    const: anyValue,
    enum: fc.array(anyValue, { minLength: 1, maxLength: 3 }),
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    exclusiveMaximum: small,
    multipleOf: fc.constantFrom(1, 0.5, 3),
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom("a", "^a", "b$", "^$", "^[ab]{2}$"),
    format: fc.constantFrom("date", "uuid", "unknown"),
    anyOf: some,
    allOf: some,
    oneOf: some,
    not: one,
    ...Object.fromEntries(["if", "then", "else"].map((name) => [name, one])),
    required: fc.uniqueArray(fc.constantFrom("a", "b")),
    minProperties: small,
    maxProperties: small,
    propertyNames: one,
    dependentRequired: fc.constantFrom({ a: ["b"] }, { b: [] }),
    dependentSchemas: byName,
    dependencies: fc.oneof(byName, fc.constant({ a: ["b"] })),
    properties: byName,
    patternProperties: fc.dictionary(fc.constantFrom("a", "^[bc]$"), one, {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    additionalProperties: one,
    minItems: small,
    maxItems: small,
    prefixItems: some,
    items: one,
    contains: one,
    uniqueItems: fc.boolean(),
    $ref: fc.constantFrom("#/$defs/one", "#other"),
  };
  const keyword = fc
    .constantFrom(...Object.keys(each))
    .chain((name) => (each[name] as fc.Arbitrary<unknown>).map((argument) => [name, argument] as const));
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      fc.constantFrom(true, false, {}),
      fc.array(keyword, { minLength: 1, maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
    ),
  };
});

test("agrees with another validator on any schema", () => {
  let fitting = 0;
  let refused = 0;
  fc.assert(
    fc.property(anySchema, anyValue, (root, value) => {
      const schema = {
        allOf: [root],
        $defs: { one: { type: ["string", "array"] }, two: { $anchor: "other", maxItems: 1 } },
      };
      const isFine = fits(schema, value);
      expect(isFine).toBe(new Validator(structuredClone(schema) as Schema, "2020-12").validate(value).valid);
      if (isFine) fitting += 1;
      else refused += 1;
    }),
    { numRuns: 3000 },
  );
  expect(Math.min(fitting, refused)).toBeGreaterThan(300);
});

describe("unevaluated properties and items", () => {
  const schema = {
    type: "object",
    properties: { a: {} },
    allOf: [{ properties: { b: { type: "number" } } }],
    anyOf: [{ properties: { c: { const: 1 } }, required: ["c"] }, {}],
    $ref: "#/$defs/d",
    unevaluatedProperties: false,
    $defs: { d: { properties: { d: {} } } },
  };

  test.each<[object, boolean]>([
    [{ a: 1, b: 1, d: 1 }, true],
    [{ c: 1 }, true],
    [{ c: 2 }, false],
    [{ e: 1 }, false],
  ])("%j is refused by unevaluatedProperties, also below: %s", (value, isFine) => {
    expect(fits(schema, value)).toBe(isFine);
    expect(fits({ properties: { inner: schema }, $defs: schema.$defs }, { inner: value })).toBe(isFine);
  });

  test("is refused by unevaluatedItems", () => {
    const list = { prefixItems: [{}], contains: { type: "string" }, unevaluatedItems: { type: "number" } };
    expect(fits(list, [null, "a", 1])).toBe(true);
    expect(fits(list, [null, "a", null])).toBe(false);
  });
});

test.each<[string, object, unknown, unknown]>([
  [
    "$id",
    {
      $id: "https://a.org/s.json",
      properties: { a: { $ref: "s.json#/$defs/n" } },
      $defs: { n: { type: "number" } },
    },
    { a: 1 },
    { a: "1" },
  ],
  [
    "a nested $id",
    {
      properties: { a: { $ref: "n.json" } },
      $defs: { n: { $id: "n.json", $ref: "#/$defs/x", $defs: { x: { type: "number" } } } },
    },
    { a: 1 },
    { a: "1" },
  ],
  [
    "$dynamicRef",
    { $dynamicAnchor: "node", type: "object", properties: { next: { $dynamicRef: "#node" } } },
    { next: { next: {} } },
    { next: { next: 1 } },
  ],
  [
    "$recursiveRef",
    {
      $schema: "https://json-schema.org/draft/2019-09/schema",
      type: "object",
      properties: { next: { $recursiveRef: "#" } },
    },
    { next: {} },
    { next: 1 },
  ],
  [
    "signs in a pointer",
    { properties: { a: { $ref: "#/$defs/a~1b%20c" } }, $defs: { "a/b c": { type: "number" } } },
    { a: 1 },
    { a: "1" },
  ],
  [
    "draft 4's own minimum",
    {
      $schema: "http://json-schema.org/draft-04/schema#",
      properties: { a: { minimum: 1, exclusiveMinimum: true } },
    },
    { a: 2 },
    { a: 1 },
  ],
  [
    "a list that is equal in another order of keys",
    { properties: { a: { uniqueItems: true } } },
    {
      a: [
        { x: 1, y: 2 },
        { x: 2, y: 1 },
      ],
    },
    {
      a: [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
    },
  ],
])("%s", (_, schema, good, bad) => {
  expect(fits(schema, good)).toBe(true);
  expect(fits(schema, bad)).toBe(false);
});

/** n definitions, each of which refers to the next one twice. */
function doubling(n: number, keyword: string): object {
  const $defs: Record<string, object> = { [`d${n}`]: { type: "string" } };
  for (let index = 0; index < n; index++)
    $defs[`d${index}`] = {
      [keyword]: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }],
    };
  return { properties: { a: { $ref: "#/$defs/d0" } }, $defs };
}

describe("a check that would take too long is ended, and the value refused", () => {
  const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as unknown;
  const letters = "a".repeat(1_000_000);

  test.each<[string, object, unknown]>([
    ["allOf that doubles", doubling(60, "allOf"), { a: "x" }],
    ["anyOf that doubles", doubling(60, "anyOf"), { a: 1 }],
    ["oneOf that doubles", doubling(60, "oneOf"), { a: "x" }],
    [
      "a tree that is looked at twice at each level",
      { $id: "t", items: { allOf: [{ $ref: "#" }, { $ref: "#" }] } },
      deep(60),
    ],
    [
      "many patterns on a long text",
      { allOf: Array.from({ length: 500 }, (_, n) => ({ pattern: `(a|b)*c${n}` })) },
      letters,
    ],
    ["a lookahead at each place", { pattern: "(?=a*b)" }, letters],
    [
      "a list that is compared with many",
      { contains: { enum: [deep(100)] }, allOf: Array.from({ length: 2000 }, () => ({ uniqueItems: true })) },
      Array.from({ length: 10_000 }, (_, n) => n),
    ],
  ])("%s", (_, schema, value) => {
    expect(messageOf(schema, value)).toEqual([expect.stringContaining("takes too many steps")]);
  });

  test("a value that is deeper than the stack", () => {
    expect(messageOf({ items: { $ref: "#" } }, deep(100_000))).toEqual([
      expect.stringContaining("levels, got more"),
    ]);
    expect(messageOf({ uniqueItems: true }, [deep(100_000)])).toEqual([
      expect.stringContaining("levels, got more"),
    ]);
    expect(messageOf({ enum: [1] }, deep(100_000))).toEqual([expect.stringContaining("levels, got more")]);
    // Each level of the value takes several schemas, and so much of the stack.
    const nested = {
      anyOf: [{ allOf: [{ items: { $ref: "#" }, unevaluatedItems: false }] }, { type: "null" }],
    };
    expect(messageOf(nested, deep(900))).toEqual([expect.stringContaining("levels, got more")]);
  });
});

describe("takes twice as long for twice the value", () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `word ${index}`);
  const wide = (count: number) => Object.fromEntries(words(count).map((word) => [word, word]));
  test.each<[string, object, (count: number) => unknown]>([
    ["uniqueItems", { uniqueItems: true }, (count) => words(count).map((word) => ({ word }))],
    ["enum", { items: { enum: words(1000) } }, words],
    ["a pattern", { pattern: "^(a+)+$" }, (count) => `${"a".repeat(count * 10)}!`],
    ["patternProperties", { patternProperties: { "^(w+)+$": false } }, wide],
    ["propertyNames", { propertyNames: { pattern: "^(\\w+ ?)+$", maxLength: 50 } }, wide],
    ["additionalProperties", { additionalProperties: { type: "string" } }, wide],
    [
      "unevaluatedProperties",
      { allOf: [{ properties: {} }], unevaluatedProperties: { type: "string" } },
      wide,
    ],
    ["contains", { contains: { const: "none" } }, words],
  ])("%s", (_, schema, make) => {
    const stepsFor = (count: number) => {
      let steps = 0;
      const validation = new (class extends Validation {
        override readonly spend = (more: number) => {
          steps += more;
        };
      })();
      new SchemaCompiler(2020)
        .compile(structuredClone(schema))
        .check(make(count), undefined, validation, undefined);
      return steps;
    };
    expect(stepsFor(2000)).toBeLessThan(2.5 * stepsFor(1000));
  });
});

describe("work that does not depend on the number of keywords", () => {
  test("is not done for words that nobody reads", () => {
    const validation = new Validation();
    let worded = 0;
    const fail = () => validation.fail(undefined, () => `complaint ${++worded}`);
    expect(validation.silently(fail)).toBe(false);
    expect(worded).toBe(0);
    for (let count = 0; count < 100; count++) fail();
    expect(worded).toBe(20);
    expect(validation.issues).toHaveLength(20);
  });

  test.each<[string, object, unknown]>([
    ["long keys", { uniqueItems: true }, [{ ["k".repeat(100_000)]: 1 }]],
    ["numbers of hundreds of digits", { items: { multipleOf: 5e-324 } }, Array(400).fill(1.7e308)],
  ])("is paid for with %s", (_, schema, value) => {
    const check = () =>
      new SchemaCompiler(2020).compile(schema).check(value, undefined, new Validation(5000), undefined);
    expect(check).toThrow("takes too many steps");
  });
});

test("a refusal stays short, however much is wrong", () => {
  const issues = compileJsonSchema({ items: { enum: Array.from({ length: 5000 }, (_, n) => n) } })(
    Array.from({ length: 5000 }, () => "x"),
  );
  expect(issues).toHaveLength(20);
  expect(JSON.stringify(issues).length).toBeLessThan(10_000);
  const [issue] = compileJsonSchema({ additionalProperties: false })({ ["x".repeat(100_000)]: 1 });
  expect(issue?.path).toBe(`${"x".repeat(200)}…`);
});

describe("a schema that cannot be used is refused", () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });
  test.each<[string, object, string]>([
    ["a $ref to itself", { $ref: "#" }, "leads back to itself"],
    [
      "a $ref to itself through others",
      {
        $ref: "#/$defs/a",
        $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      },
      "leads back to itself",
    ],
    ["a circle that nothing refers to", { $defs: { a: { $ref: "#/$defs/a" } } }, "leads back to itself"],
    ["more levels than 200", nested(300), "more than 200 levels deep"],
    [
      "more levels than the stack has",
      JSON.parse(`${'{"not":'.repeat(100_000)}{}${"}".repeat(100_000)}`),
      "levels deep",
    ],
    [
      "too many subschemas",
      { anyOf: Array.from({ length: 10_001 }, () => ({})) },
      "more than 10000 subschemas",
    ],
    ["a pattern that goes back", { pattern: "(a)\\1" }, "Backreferences"],
    [
      "patterns that are too large together",
      { allOf: Array.from({ length: 10 }, (_, n) => ({ pattern: `(?:ab${n}){900}` })) },
      "too large",
    ],
    ["a number that is a text", { minLength: "5" }, "schema.minLength: expected a number"],
    [
      "alternatives that are no list",
      { properties: { a: { anyOf: {} } } },
      "schema.properties.a.anyOf: expected a list of schemas",
    ],
    ["an $id that is too long", { $id: `a/${"a".repeat(1000)}` }, "An $id in the schema has more than 300"],
    [
      "an $id that is too long with the one around it",
      { $id: `${"a".repeat(200)}/`, properties: { b: { $id: "b".repeat(200) } } },
      "An $id in the schema has more than 300",
    ],
    [
      "an $id that is too long on the way of a $ref",
      { default: { $id: "a".repeat(2000), b: {} }, properties: { b: { $ref: "#/default/b" } } },
      "An $id in the schema has more than 300",
    ],
    ["a multiple of 0", { multipleOf: 0 }, "schema.multipleOf: expected a number above 0"],
  ])("with %s", (_, schema, message) => {
    expect(() => compileJsonSchema(schema as JsonSchema)).toThrow(message);
  });

  test("but a tree may refer to itself", () => {
    const tree = { type: "object", properties: { children: { items: { $ref: "#" } } } };
    expect(fits(tree, { children: [{ children: [] }] })).toBe(true);
    expect(fits(tree, { children: [{ children: [1] }] })).toBe(false);
  });
});
