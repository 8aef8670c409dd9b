import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError } from "../errors.ts";
import { tool } from "../index.ts";

const defineUntyped = tool as unknown as (
  name: string,
  description: string,
  schema: unknown,
  handler: (input: Record<string, unknown>) => unknown,
) => { execute(input?: object): Promise<unknown>; toOpenAI(): { function: { parameters: unknown } } };

const parametersOf = (schema: unknown) =>
  defineUntyped("t", "d", schema, () => 1).toOpenAI().function.parameters;
const run = (schema: unknown, input: object) =>
  defineUntyped("t", "d", schema, (parsed) => parsed).execute(input);

describe("a constructor", () => {
  test("stands for the type that it makes, and the parameter is required", () => {
    expect(parametersOf({ s: String, n: Number, b: Boolean, a: Array, o: Object })).toEqual({
      type: "object",
      properties: {
        s: { type: "string" },
        n: { type: "number" },
        b: { type: "boolean" },
        a: { type: "array" },
        o: { type: "object" },
      },
      required: ["s", "n", "b", "a", "o"],
    });
  });

  test("is checked when the tool runs, with the path and what was expected", async () => {
    await expect(
      run({ s: String, n: Number, b: Boolean, a: Array, o: Object }, { n: "1", b: 0, a: {}, o: [] }),
    ).rejects.toThrow(
      "Invalid input for the tool 't': s: expected string, got nothing; n: expected number, got \"1\"; " +
        "b: expected boolean, got 0; a: expected array, got {}; o: expected object, got an array of 0.",
    );
  });

  test("other than these is refused", () => {
    expect(() => parametersOf({ when: Date })).toThrow(InvalidTypeError);
    expect(() => parametersOf({ when: Date })).toThrow(
      "input.when: expected String, Number, Boolean, Array, Object, a JSON Schema fragment or a Standard Schema, " +
        "got the function 'Date'.",
    );
  });
});

describe("a fragment of JSON Schema", () => {
  // Which of the flags count, in this order: `required: true`; `required: false`, `optional`, `default`.
  test.each<[object, "required" | "optional"]>([
    [{}, "required"],
    [{ required: true }, "required"],
    [{ optional: false }, "required"],
    [{ required: false }, "optional"],
    [{ optional: true }, "optional"],
    [{ default: 1 }, "optional"],
    [{ default: null }, "optional"],
    [{ default: false }, "optional"],
    [{ required: true, optional: true }, "required"],
    [{ required: true, default: 1 }, "required"],
    [{ required: false, optional: false }, "optional"],
    [{ optional: false, default: 1 }, "optional"],
  ])("with %o is %s", (flags, expected) => {
    const { required } = parametersOf({ value: { type: "integer", ...flags } }) as { required: string[] };
    expect(required).toEqual(expected === "required" ? ["value"] : []);
  });

  test("loses its flags and keeps the rest", () => {
    const fragment = {
      type: "integer",
      description: "How many.",
      minimum: 1,
      default: 2,
      optional: true,
      required: false,
    };
    expect(parametersOf({ n: fragment })).toEqual({
      type: "object",
      properties: { n: { type: "integer", description: "How many.", minimum: 1, default: 2 } },
      required: [],
    });
  });

  test("keeps a list of required properties, which does not make the parameter required", async () => {
    const place = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    expect(parametersOf({ place, other: { ...place, optional: true } })).toEqual({
      type: "object",
      properties: { place, other: place },
      required: ["place"],
    });
    await expect(run({ place }, { place: {} })).rejects.toThrow("place.city: expected a value, got nothing");
  });

  test("that is optional may be missing, and is checked when it is there", async () => {
    const schema = { n: { type: "integer", optional: true } };
    expect(await run(schema, {})).toEqual({});
    expect(await run(schema, { n: undefined })).toEqual({});
    await expect(run(schema, { n: "1" })).rejects.toThrow(`n: expected integer, got "1"`);
  });

  test.each([
    ["of a type", { type: "integer" }],
    ["with choices", { enum: ["a", "b"] }],
    ["by a reference", { $ref: "#/$defs/count" }],
  ])("whose default is null, but which takes no null, may be left out: %s", async (_, schema) => {
    const kept = { type: ["string", "null"], default: null };
    const properties = { n: { ...schema, default: null }, kept };
    const $defs = { count: { type: "integer" } };
    const made = defineUntyped("t", "d", { type: "object", properties, $defs }, (input) => input);
    expect(await made.execute({})).toEqual({ kept: null });
    await expect(made.execute({ n: null })).rejects.toThrow("got null");
    const strict = { type: "object", properties, $defs, required: ["n"] };
    await expect(defineUntyped("t", "d", strict, (input) => input).execute({})).rejects.toThrow("n");
  });

  test("with a default gets it, new for each run", async () => {
    const made = defineUntyped("t", "d", { list: { type: "array", default: [] } }, ({ list }) =>
      (list as number[]).push(1),
    );
    expect(await made.execute({})).toBe(1);
    expect(await made.execute({})).toBe(1);
  });

  test("is not changed", () => {
    const schema = { n: { type: "integer", optional: true, required: false, nested: { required: ["a"] } } };
    const before = structuredClone(schema);
    parametersOf(schema);
    expect(schema).toEqual(before);
  });

  test("that cannot be used is refused at the definition", () => {
    expect(() => parametersOf({ a: { type: "string", pattern: "(" } })).toThrow(
      /^input: expected a valid JSON Schema/,
    );
  });
});

describe("a Standard Schema as a parameter", () => {
  test("is required unless it accepts undefined", () => {
    expect(
      parametersOf({
        must: z.number(),
        may: z.string().optional(),
        filled: z.boolean().default(true),
        nullable: z.string().nullable(),
      }),
    ).toEqual({
      type: "object",
      properties: {
        must: { type: "number" },
        may: { type: "string" },
        filled: { type: "boolean", default: true },
        nullable: { type: ["string", "null"] },
      },
      required: ["must", "nullable"],
    });
  });

  test("validates and transforms its parameter, beside others", async () => {
    const schema = { n: z.string().transform(Number), unit: z.enum(["C", "F"]).default("C"), city: String };
    expect(await run(schema, { n: "12", city: "Rome" })).toEqual({ n: 12, unit: "C", city: "Rome" });
  });

  test("names the parameter in the path of its issues, together with the others' issues", async () => {
    await expect(
      run({ at: z.object({ x: z.array(z.number()) }), city: String }, { at: { x: ["1"] } }),
    ).rejects.toThrow(/city: expected string, got nothing; at\.x\[0\]: .*expected number/);
  });

  test("that is missing is an error of its own words", async () => {
    await expect(run({ n: z.number() }, {})).rejects.toThrow(/n: .*expected number/);
  });

  test("may be asynchronous, and is required then", async () => {
    const even = z.number().refine(async (n) => n % 2 === 0, "not even");
    expect(parametersOf({ even })).toMatchObject({ required: ["even"] });
    expect(await run({ even }, { even: 2 })).toEqual({ even: 2 });
    await expect(run({ even }, { even: 1 })).rejects.toThrow("even: not even");
  });

  test("that returns undefined removes the value", async () => {
    expect(await run({ secret: z.string().transform(() => undefined) }, { secret: "raw" })).toEqual({});
  });

  test("ignores inherited properties", async () => {
    expect(await run({ constructor: z.string().optional() }, {})).toEqual({});
    expect(await run({ ["__proto__"]: z.string().optional() }, {})).toEqual({});
  });
});

test("parameters that are not known are dropped", async () => {
  expect(await run({ a: String }, { a: "x", b: 1 })).toEqual({ a: "x" });
});

test("without parameters, everything is dropped", async () => {
  expect(await run({}, { a: 1 })).toEqual({});
});

test("a parameter may have a name that JSON Schema uses too", async () => {
  const schema = { type: String, properties: Object, required: { type: "boolean", default: true } };
  expect(await run(schema, { type: "x", properties: {} })).toEqual({
    type: "x",
    properties: {},
    required: true,
  });
});

test("a parameter named __proto__ is only a parameter", async () => {
  const schema = { ["__proto__"]: String };
  const given = JSON.parse(`{ "__proto__": "x" }`);
  expect(Object.entries((await run(schema, given)) as object)).toEqual([["__proto__", "x"]]);
  await expect(run(schema, {})).rejects.toThrow("__proto__: expected string, got nothing");
});

test.each([5, "string", null, undefined, true, [1]])("%o is refused as a parameter", (value) => {
  expect(() => parametersOf({ city: String, value })).toThrow(/^input\.value: expected String, Number/);
});
