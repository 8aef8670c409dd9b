import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError } from "../errors.ts";
import { InvalidInputError, type JsonSchema, RondoError, tool } from "../index.ts";
import { pathOf } from "./json-schema.ts";

/** Runs a tool of this schema, and gives what its function got. */
function run(schema: JsonSchema, input: object): Promise<unknown> {
  return tool("t", "d", schema, (parsed) => parsed).execute(input as never);
}

function refusalOf(schema: JsonSchema, input: object): Promise<unknown> {
  return run(schema, input).then(
    () => "not refused",
    (error: unknown) => error,
  );
}

const trip = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 1 },
    stops: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, at: { type: ["string", "null"] } },
        required: ["name"],
      },
    },
  },
  required: ["city"],
} as const;

describe("top-level keys", () => {
  test("that the schema does not know are dropped", async () => {
    expect(await run(trip, { city: "Rome", country: "Italy" })).toEqual({ city: "Rome" });
  });

  test("are dropped rather than refused where additionalProperties is false", async () => {
    const schema = { ...trip, additionalProperties: false };
    expect(await run(schema, { city: "Rome", country: "Italy" })).toEqual({ city: "Rome" });
  });

  test.each<[string, JsonSchema]>([
    ["additionalProperties is true", { ...trip, additionalProperties: true }],
    ["additionalProperties is a schema", { ...trip, additionalProperties: { type: "string" } }],
    ["there are no properties", { type: "object" }],
    ["patternProperties name them", { ...trip, patternProperties: { "^c": {} } }],
  ])("are kept where %s", async (_, schema) => {
    const input = { city: "Rome", country: "Italy" };
    expect(await run(schema, input)).toEqual(input);
  });

  test("that are kept are validated by additionalProperties", async () => {
    const schema = { ...trip, additionalProperties: { type: "number" } };
    const error = await refusalOf(schema, { city: "Rome", country: "Italy" });
    expect(error).toMatchObject({ issues: [{ path: "country", message: `expected number, got "Italy"` }] });
  });

  test("below the top are left as they are", async () => {
    const input = { city: "Rome", stops: [{ name: "Forum", note: "old" }] };
    expect(await run(trip, input)).toEqual(input);
  });

  test("that are undefined count as missing, at the top and below", async () => {
    expect(await run(trip, { city: "Rome", days: undefined })).toEqual({ city: "Rome" });
    const below = { city: "Rome", stops: [{ name: "Forum", at: undefined }] };
    expect(await run(trip, below)).toEqual(below);
    const error = await refusalOf(trip, { city: "Rome", stops: [{ name: undefined }] });
    expect(error).toMatchObject({ issues: [{ path: "stops[0].name" }] });
  });

  test("named like a part of every object are only keys", async () => {
    const schema = {
      type: "object",
      properties: { constructor: { type: "string" } },
      required: ["constructor"],
    };
    expect(await run(schema, JSON.parse(`{ "constructor": "Ferrari", "toString": 1 }`))).toEqual({
      constructor: "Ferrari",
    });
    expect(await refusalOf(schema, {})).toMatchObject({ issues: [{ path: "constructor" }] });
  });

  test("named __proto__ do not change the prototype", async () => {
    const input = JSON.parse(`{ "__proto__": { "isAdmin": true } }`);
    const parsed = (await run({ type: "object" }, input)) as Record<string, unknown>;
    expect(Object.keys(parsed)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed["isAdmin"]).toBeUndefined();
  });
});

describe("top-level defaults", () => {
  const schema = {
    type: "object",
    properties: {
      days: { type: "integer", default: 3 },
      list: { type: "array", items: { type: "number" }, default: [1] },
      nothing: { type: ["string", "null"], default: null },
    },
    required: ["days"],
  } as const;

  test("replace missing values, also required ones", async () => {
    expect(await run(schema, {})).toEqual({ days: 3, list: [1], nothing: null });
  });

  test("do not replace given values", async () => {
    expect(await run(schema, { days: 0, list: [], nothing: "" })).toEqual({ days: 0, list: [], nothing: "" });
  });

  test("are new for each run", async () => {
    const made = tool("t", "d", schema, (input) => input.list.push(2));
    expect(await made.execute({})).toBe(2);
    expect(await made.execute({})).toBe(2);
    expect(schema.properties.list.default).toEqual([1]);
  });
});

describe("an input that does not fit", () => {
  test("is an InvalidInputError, which is a TypeError and a RondoError, and the tool does not run", async () => {
    let calls = 0;
    const made = tool("plan", "d", trip, () => {
      calls += 1;
    });
    const error = await made.execute({} as never).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toBeInstanceOf(RondoError);
    expect(error).toMatchObject({ toolName: "plan", code: "invalid_input" });
    expect(calls).toBe(0);
  });

  test.each<[string, object, { path: string; message: string }[]]>([
    ["a missing value", {}, [{ path: "city", message: "expected string, got nothing" }]],
    ["a wrong type", { city: 5 }, [{ path: "city", message: "expected string, got 5" }]],
    ["null", { city: null }, [{ path: "city", message: "expected string, got null" }]],
    ["a wrong value", { city: "Rome", days: 0 }, [{ path: "days", message: "0 is less than 1, got 0" }]],
    ["a fraction", { city: "Rome", days: 1.5 }, [{ path: "days", message: "expected integer, got 1.5" }]],
    [
      "several things, some of them deep",
      { city: 1, stops: [{ name: "a" }, { name: 2, at: 3 }, {}, "x"] },
      [
        { path: "city", message: "expected string, got 1" },
        { path: "stops[1].name", message: "expected string, got 2" },
        { path: "stops[1].at", message: "expected string or null, got 3" },
        { path: "stops[2].name", message: "expected a value, got nothing" },
        { path: "stops[3]", message: `expected object, got "x"` },
      ],
    ],
  ])("says where and what was expected: %s", async (_, input, issues) => {
    const error = await refusalOf(trip, input);
    expect(error).toMatchObject({ issues });
    for (const { path, message } of issues) expect((error as Error).message).toContain(`${path}: ${message}`);
  });

  test.each<[string, JsonSchema, unknown, string]>([
    ["one of a list", { enum: ["C", "F"] }, "K", `match any of ["C","F"], got "K"`],
    ["a constant", { const: 1 }, 2, "match 1, got 2"],
    ["a choice", { anyOf: [{ type: "string" }, { type: "number" }] }, true, "any subschemas, got true"],
    ["a pattern", { type: "string", pattern: "^a" }, "b", `got "b"`],
    ["a length", { type: "string", maxLength: 1 }, "bb", `got "bb"`],
  ])("says one thing about %s", async (_, schema, value, message) => {
    const error = await refusalOf({ type: "object", properties: { value: schema } }, { value });
    const issue = { path: "value", message: expect.stringContaining(message) };
    expect(error).toMatchObject({ issues: [issue] });
  });

  test.each<[string, JsonSchema | undefined, string]>([
    ["a missing constant", { const: "x" }, `expected "x", got nothing`],
    ["a missing one of a list", { enum: [1, 2] }, "expected one of 1, 2, got nothing"],
    ["a missing value of two types", { type: ["string", "null"] }, "expected string or null, got nothing"],
    ["a missing value of any type", {}, "expected a value, got nothing"],
    ["a missing value that has no schema", undefined, "expected a value, got nothing"],
  ])("says what was expected of %s", async (_, schema, message) => {
    const properties = schema === undefined ? {} : { value: schema };
    const error = await refusalOf({ type: "object", properties, required: ["value"] }, {});
    expect(error).toMatchObject({ issues: [{ path: "value", message }] });
  });

  test("names keys as they are, with any signs in them", async () => {
    const key = `a/b~c%20"d"`;
    const error = await refusalOf(
      { type: "object", properties: { [key]: { type: "string" } } },
      { [key]: 1 },
    );
    expect(error).toMatchObject({ issues: [{ path: key, message: "expected string, got 1" }] });
  });
});

describe("values that JSON lacks", () => {
  test.each<[string, unknown, string]>([
    ["a bigint", 1n, "1n"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["undefined in a list", [undefined], "nothing"],
  ])("is refused by a schema that asks for something else: %s", async (_, value, words) => {
    const item = { type: "number" };
    const schema = {
      type: "object",
      properties: { value: Array.isArray(value) ? { type: "array", items: item } : item },
    };
    const error = await refusalOf(schema, { value });
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toMatchObject({ issues: [{ message: `expected number, got ${words}` }] });
  });

  test("pass a schema without a type", async () => {
    const value = { big: 1n, list: [undefined, new Date(0)] };
    expect(await run({ type: "object", properties: { value: {} } }, { value })).toEqual({ value });
  });

  test("passes also when it contains itself", async () => {
    const value: Record<string, unknown> = {};
    value["self"] = value;
    const parsed = (await run({ type: "object", properties: { value: { type: "object" } } }, { value })) as {
      value: { self: unknown };
    };
    expect(parsed.value.self).toBe(parsed.value);
  });
});

test("half a character in a key is a key like others", async () => {
  const numbers = { type: "object", additionalProperties: { type: "number" } };
  const schema = { type: "object", properties: { numbers } };
  expect(await run(schema, { numbers: { "\ud800": 1 } })).toEqual({ numbers: { "\ud800": 1 } });
  expect(await refusalOf(schema, { numbers: { "\ud800": "1" } })).toBeInstanceOf(InvalidInputError);
});

test.each<[string, object]>([
  ["schema.properties: expected schemas by name, got null", { type: "object", properties: null }],
  ["schema.properties.a: expected a schema, got 5", { type: "object", properties: { a: 5 } }],
  ["schema.properties.a.type: expected one of", { type: "object", properties: { a: { type: "strng" } } }],
  ["schema.properties.a.type: expected one of", { a: { type: String } }],
  ["schema.properties.a.type: expected one of", { a: { type: ["string", "nul"] } }],
  ["schema.properties.a.enum: expected a list of values, got 5", { a: { enum: 5 } }],
  ["schema.properties.a.items: expected a schema, got null", { a: { type: "array", items: null } }],
  ["schema.properties.a.items.type: expected one of", { a: { items: { type: "text" } } }],
  ["schema.required: expected a list of names", { type: "object", properties: {}, required: "a" }],
  ["schema.required: expected a list of names", { type: "object", properties: {}, required: [5] }],
])("a keyword that no value could fit is refused when the tool is defined: %s", (words, schema) => {
  const define = () => tool("t", "d", schema as JsonSchema, () => 1);
  expect(define).toThrow(InvalidTypeError);
  expect(define).toThrow(words);
});

test("keywords that are not JSON Schema's own may hold anything", () => {
  const schema = { type: "object", properties: { a: { type: "number", "x-widget": { type: "slider" } } } };
  expect(() => tool("t", "d", schema, () => 1)).not.toThrow();
});

describe("references", () => {
  const point = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };

  test("to $defs are followed, and errors behind them have their path", async () => {
    const schema = { type: "object", properties: { at: { $ref: "#/$defs/point" } }, $defs: { point } };
    expect(await run(schema, { at: { x: 1 } })).toEqual({ at: { x: 1 } });
    expect(await refusalOf(schema, { at: { x: "1" } })).toMatchObject({
      issues: [{ path: "at.x", message: `expected number, got "1"` }],
    });
  });

  test("to a schema that contains itself are followed", async () => {
    const node = {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } },
    };
    const schema = { type: "object", properties: { root: { $ref: "#/$defs/node" } }, $defs: { node } };
    expect(await refusalOf(schema, { root: { children: [{ children: ["x"] }] } })).toMatchObject({
      issues: [{ path: "root.children[0].children[0]", message: `expected object, got "x"` }],
    });
  });

  test("at the top are followed", async () => {
    const schema = { $ref: "#/$defs/point", $defs: { point } };
    expect(await run(schema, { x: 1 })).toEqual({ x: 1 });
    expect(await refusalOf(schema, {})).toMatchObject({ issues: [{ path: "x" }] });
  });
});

test("a schema of draft-07 is read as one", async () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false },
      // What stands beside a $ref counts only since draft 2019-09.
      at: { $ref: "#/definitions/point", minProperties: 2 },
    },
    definitions: { point: { type: "object", required: ["x"] } },
  };
  expect(await run(schema, { pair: ["a", 1], at: { x: 1 } })).toEqual({ pair: ["a", 1], at: { x: 1 } });
  expect(await refusalOf(schema, { pair: ["a", "b"] })).toMatchObject({ issues: [{ path: "pair[1]" }] });
  expect(await refusalOf(schema, { pair: ["a", 1, 2] })).toMatchObject({ issues: [{ path: "pair[2]" }] });
  expect(await refusalOf(schema, { at: {} })).toMatchObject({ issues: [{ path: "at.x" }] });
});

describe("a schema that cannot be used is refused at the definition", () => {
  test.each<[string, JsonSchema, string]>([
    ["of a text", { type: "string" }, "A tool takes one object"],
    ["of a list", { type: "array", items: {} }, "A tool takes one object"],
    [
      "with a reference to nothing",
      { type: "object", properties: { a: { $ref: "#/$defs/no" } } },
      `"#/$defs/no"`,
    ],
    [
      "with a reference to nothing, deep inside",
      { type: "object", properties: { a: { anyOf: [{ items: { $ref: "other.json" } }] } } },
      `"other.json"`,
    ],
    [
      "with a broken pattern",
      { type: "object", properties: { a: { type: "string", pattern: "(" } } },
      "Unterminated group",
    ],
    [
      "with a broken pattern of names",
      { type: "object", patternProperties: { "[": {} } },
      "regular expression",
    ],
  ])("one %s", (_, schema, complaint) => {
    const define = () => tool("t", "d", schema, () => 1);
    expect(define).toThrow(InvalidTypeError);
    expect(define).toThrow(/^input: expected /);
    expect(define).toThrow(complaint);
  });

  test("but a $ref inside a value is not a reference", () => {
    const schema = { type: "object", properties: { a: { default: { $ref: "#/nowhere" } } } };
    expect(() => tool("t", "d", schema, () => 1)).not.toThrow();
  });
});

test("the caller's schema is neither changed nor kept", async () => {
  const schema = {
    type: "object",
    properties: { at: { $ref: "#/$defs/point" } } as Record<string, unknown>,
    $defs: { point: { type: "number" } },
  };
  const before = structuredClone(schema);
  const made = tool("t", "d", schema as JsonSchema, (input) => input);
  await made.execute({ at: 1 });
  expect(schema).toEqual(before);
  expect(Reflect.ownKeys(schema.$defs.point)).toEqual(["type"]);
  expect(Reflect.ownKeys(made.toOpenAI().function.parameters)).toEqual(Reflect.ownKeys(schema));
  schema.properties["other"] = { type: "string" };
  expect(await made.execute({ at: 1, other: "x" })).toEqual({ at: 1 });
});

test.each<[PropertyKey[], string]>([
  [[], ""],
  [["city"], "city"],
  [["stops", 2, "name"], "stops[2].name"],
  [["stops", "2", "name"], "stops[2].name"],
  [[0, 1], "[0][1]"],
])("the path %o is written as %s", (steps, path) => {
  expect(pathOf(steps)).toBe(path);
});

describe("an input that is deeper than the stack", () => {
  const deep = () => JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;

  test.each<[string, Parameters<typeof tool>[2]]>([
    ["of JSON Schema", { type: "object", properties: { a: {} } }],
    ["of the short form", { a: Array }],
    ["of Zod", z.object({ a: z.json() })],
  ])("is refused by a tool %s", async (_, schema) => {
    let calls = 0;
    const made = tool("t", "d", schema, () => {
      calls += 1;
    });
    const error = await made.execute({ a: deep() } as never).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as Error).message).toContain("expected at most 1000 levels");
    expect(calls).toBe(0);
  });

  test("has no schema that is as deep", () => {
    const schema = { type: "object", properties: { a: { default: deep() } } };
    expect(() => tool("t", "d", schema, () => 1)).toThrow("levels deep");
    const options = {
      name: "t",
      description: "d",
      output: { const: deep() } as JsonSchema,
      registry: false,
    } as const;
    expect(() => tool(options, async () => 1)).toThrow("output: expected a schema of at most 1000 levels");
  });
});

test("a call whose check would never end does not run", async () => {
  const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
  expect(await refusalOf(schema, { a: `${"a".repeat(100)}!` })).toMatchObject({
    issues: [{ path: "a", message: expect.stringContaining('does not match the pattern "^(a+)+$"') }],
  });
  const $defs: Record<string, JsonSchema> = { d60: {} };
  for (let n = 0; n < 60; n++) {
    const $ref = `#/$defs/d${n + 1}`;
    $defs[`d${n}`] = { allOf: [{ $ref }, { $ref }] };
  }
  expect(await refusalOf({ $ref: "#/$defs/d0", $defs }, { a: 1 })).toMatchObject({
    issues: [{ path: "", message: expect.stringContaining("takes too many steps") }],
  });
});
