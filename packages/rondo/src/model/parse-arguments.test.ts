import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileJsonSchema, type JsonSchema } from "../tool/json-schema.ts";
import { parseArguments } from "./parse-arguments.ts";

const schema: JsonSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" }, note: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
};
const check = compileJsonSchema(schema);
const parse = (raw: string | object) => parseArguments(raw, (input) => check(input).length === 0, schema);

describe("arguments that are understood", () => {
  test.each<[string, string | object, unknown]>([
    ["JSON", '{"a": 1}', { a: 1 }],
    ["an object", { a: 1 }, { a: 1 }],
    ["white space", ' {"a": 1}\n', { a: 1 }],
    ["single quotes", "{'a': 1, 'note': 'x'}", { a: 1, note: "x" }],
    ["trailing commas", '{"a": 1, "b": 2,}', { a: 1, b: 2 }],
    ["names without quotes", "{a: 1}", { a: 1 }],
    ["a fence", '```json\n{"a": 1}\n```', { a: 1 }],
    ["a fence with words", 'Here you are:\n```\n{"a": 1}\n```\nDone.', { a: 1 }],
    ["text before and after", 'arguments: {"a": 1} (as asked)', { a: 1 }],
    ["JSON in a string", '"{\\"a\\": 1}"', { a: 1 }],
    ["sloppy JSON in a string", "\"{'a': 1}\"", { a: 1 }],
    ["JSON that lost its outer quotes", '{\\"a\\": 1}', { a: 1 }],
    ["a number as a string", '{"a": "1"}', { a: 1 }],
    ["a number as a string, sloppily", "{'a': '1.5e3'}", { a: 1500 }],
    ["a placeholder before", '{}{"a": 1}', { a: 1 }],
    ["the same twice", '{"a": 1}{"a": 1}', { a: 1 }],
    ["Python", "{'a': 1, 'note': 'it\\'s'}", { a: 1, note: "it's" }],
    ["quoted JSON in single quotes", "'{\"a\": 1}'", { a: 1 }],
    [
      "a lost outer quote around escapes",
      String.raw`{\"a\": 1, \"note\": \"C:\\\\x \\\"y\\\"\"}`,
      { a: 1, note: 'C:\\x "y"' },
    ],
    ["a closing brace too many", '{"a": 1}}', { a: 1 }],
    [
      "escapes that JSON does not know",
      String.raw`{"a": 1, "note": "grep \d+\.\w f"}`,
      { a: 1, note: String.raw`grep \d+\.\w f` },
    ],
  ])("%s", async (_, raw, input) => {
    expect(await parse(raw)).toEqual({ input });
  });

  test.each(["", "  ", "null"])("%j is no arguments", async (raw) => {
    expect(await parseArguments(raw, () => true)).toEqual({ input: {} });
  });

  test("valid JSON that does not fit the schema is left to validation", async () => {
    expect(await parse('{"a": "x"}')).toEqual({ input: { a: "x" } });
    expect(await parse({ b: 1 })).toEqual({ input: { b: 1 } });
  });

  test("a check may take its time", async () => {
    expect(await parseArguments("{'a': 1}", async () => true)).toEqual({ input: { a: 1 } });
  });
});

describe("arguments that are not", () => {
  test.each([
    ['{"a": 1, "b": 2', "incomplete"],
    ['{"a": 1, "note": "x', "incomplete"],
    ['"{\\"a\\": 1"', "incomplete"],
    ['{"a": 1, ...}', "incomplete"],
    ["{'a': 1, 'c': 2}", "not valid JSON"],
    ["nothing", "not valid JSON"],
    ["[1, 2]", "a list"],
    ["5", "number"],
    ['{"a": 1}{"a": 2}', "several"],
    ['"words"', "something else"],
    ['{"a": 1 /* one */}', "not valid JSON"],
    ["{a: rm -rf //tmp/x}", "expected a value in quotes, a number, true, false or null at position 4"],
    ["[{'a': 1}]", "a list"],
    ["add({'a': 1})", "not valid JSON"],
    ["{'a': 1}, {'a': 1}", "not valid JSON"],
    [`"a": {'a': 1}, "b": 2}`, "not valid JSON"],
    [`{"a": 1}, "b": 2}`, "not valid JSON"],
    [`{'a': one} {"a": 1}`, "not valid JSON"],
    ['{"a": 1e999}', "a number that is too large"],
    ['{"a": 1, "b": [{"c": -1e999}]}', "a number that is too large"],
    ["{'a': 1e999}", "a number that is too large"],
    ['"{\\"a\\": 1e999}"', "a number that is too large"],
    ["{}".repeat(17), "several"],
  ])("%j", async (raw, reason) => {
    const result = await parse(raw);
    expect("error" in result && result.error).toContain(reason);
    expect("error" in result && result.error).toContain(raw);
  });

  test("the error says what was expected, and quotes the arguments", async () => {
    expect(await parse('{"a": 1')).toEqual({
      error:
        'Invalid JSON: expected one JSON object with "a" (number), "b" (number, optional), "note" (string, optional), received JSON that is incomplete: {"a": 1',
    });
  });

  test("nesting without end, proper or not", async () => {
    const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    for (const raw of [`{"a": ${deep("[", "]")}}`, `{'a': ${deep("[", "]")}}`, deep('{"a":', "}")]) {
      const result = await parse(raw);
      expect("error" in result && result.error).toMatch(/200 levels/);
    }
  });

  test("a long text is not repaired", async () => {
    const result = await parse(`{'note': '${"x".repeat(1_000_000)}'}`);
    expect("error" in result && result.error).toContain("of 1000012 characters");
  });

  test("long arguments are truncated in the error", async () => {
    const result = await parse(`{"note": "${"x".repeat(10_000)}`);
    expect("error" in result && result.error.length).toBeLessThan(700);
  });
});

test("strings are converted one by one: a value that does not fit leaves the others converted", async () => {
  expect(await parse('{"a": "10", "note": null}')).toEqual({ input: { a: 10, note: null } });
  expect(await parse('{"a": "ten", "b": "2"}')).toEqual({ input: { a: "ten", b: 2 } });
});

test("with repair off, only JSON is taken, and its strings are still read as the schema asks", async () => {
  const strict = (raw: string) =>
    parseArguments(raw, (input) => check(input).length === 0, schema, { repair: false });
  expect(await strict('{"a": "1"}')).toEqual({ input: { a: 1 } });
  expect(await strict("")).toEqual({ input: {} });
  for (const raw of ["{'a': 1}", '```\n{"a": 1}\n```', '"{\\"a\\": 1}"', '{"a": 1,}'])
    expect(await strict(raw)).toHaveProperty("error");
});

test.each([
  ["quotes inside a string", `{"note": "${'x" y '.repeat(50_000)}"}`],
  ["braces", "{".repeat(200_000)],
  ["escaped quotes after a brace", `{${"\\".repeat(200_000)}"}`],
  ["objects", '{"a":1} '.repeat(25_000)],
])("200 kB of %s are refused in one pass", async (_, raw) => {
  expect(await parse(raw)).toHaveProperty("error");
});

test("a key named __proto__ changes no prototype, repaired or not", async () => {
  for (const raw of [`{"__proto__": {"x": 1}}`, `{'__proto__': {'x': 1}}`]) {
    const result = await parseArguments(raw, () => true);
    if (!("input" in result)) throw new Error("It is an object.");
    expect(Object.keys(result.input)).toEqual(["__proto__"]);
    expect((result.input as { x?: number }).x).toBeUndefined();
  }
});

test("many objects in one text are not checked one by one", async () => {
  const large = JSON.stringify({ a: 1, note: "x".repeat(1000) });
  let asked = 0;
  const result = await parseArguments(large.repeat(500), () => {
    asked++;
    return true;
  });
  expect(result).toHaveProperty("error");
  expect(asked).toBe(0);
});

test("whatever comes, it does not throw, and gives an object or an error", async () => {
  const bits = fc.constantFrom(..."{|}|[|]|\"|'|:|,|a|1|`|\\|\n|...|null|true".split("|"));
  const text = fc.oneof(
    fc.string(),
    fc.array(bits).map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(text, fc.object()), async (raw) => {
      const result = await parse(raw);
      const isSound =
        "input" in result
          ? typeof result.input === "object"
          : result.error.includes("expected one JSON object");
      expect(isSound).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("a part of any JSON object is never taken for the whole", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.nat(),
      async (object, at) => {
        const text = JSON.stringify(object);
        const cut = text.slice(0, 1 + (at % (text.length - 1)));
        expect(await parseArguments(cut, () => true)).toHaveProperty("error");
      },
    ),
    { numRuns: 500 },
  );
});
