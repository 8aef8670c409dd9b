import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Client, type GivenInput, type InputOf, type JsonSchema, type ParsedInput, tool } from "../index.ts";

type Any = Record<string, unknown>;

describe("a Zod schema", () => {
  const schema = z.object({
    n: z.string().transform(Number),
    days: z.number().default(1),
    note: z.string().optional(),
  });

  test("is taken as its input type and given as its output type", () => {
    const made = tool("t", "d", schema, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ n: number; days: number; note?: string | undefined }>();
      return input.n;
    });
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{
      n: string;
      days?: number | undefined;
      note?: string | undefined;
    }>();
    expectTypeOf(made.execute({ n: "1" })).toEqualTypeOf<Promise<number>>();
    // @ts-expect-error -- the input of n is a string
    void made.execute({ n: 1 });
  });

  test("is taken alike by the strict form", () => {
    tool({ name: "t", description: "d", input: schema, registry: false }, async (input) => {
      expectTypeOf(input).toEqualTypeOf<z.output<typeof schema>>();
    });
  });
});

describe("a JSON Schema", () => {
  test("is read as far as types go", () => {
    const made = tool(
      "t",
      "d",
      {
        type: "object",
        properties: {
          text: { type: "string" },
          count: { type: "integer" },
          ratio: { type: "number" },
          flag: { type: "boolean" },
          unit: { enum: ["C", "F"] },
          kind: { const: "trip" },
          maybe: { type: ["string", "null"] },
          list: { type: "array", items: { type: "string" } },
          anything: { type: "array" },
          deep: {
            type: "object",
            properties: { x: { type: "number" }, y: { type: "number" } },
            required: ["x"],
          },
          loose: { type: "object" },
          unknown: {},
        },
        required: ["text", "count", "deep"],
      },
      (input) => input,
    );
    interface Expected {
      text: string;
      count: number;
      ratio?: number;
      flag?: boolean;
      unit?: "C" | "F";
      kind?: "trip";
      maybe?: string | null;
      list?: string[];
      anything?: unknown[];
      deep: { x: number; y?: number };
      loose?: Any;
      unknown?: unknown;
    }
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{ [K in keyof Expected]: Expected[K] }>();
    expectTypeOf(made.execute({ text: "", count: 1, deep: { x: 1 } })).resolves.toEqualTypeOf<{
      [K in keyof Expected]: Expected[K];
    }>();
  });

  test("with defaults need not be given them, but gives them", () => {
    type Schema = {
      type: "object";
      properties: { days: { type: "integer"; default: 3 }; city: { type: "string" } };
      required: ["days", "city"];
    };
    expectTypeOf<GivenInput<Schema>>().toEqualTypeOf<{ days?: number; city: string }>();
    expectTypeOf<ParsedInput<Schema>>().toEqualTypeOf<{ days: number; city: string }>();
  });

  test("that is only known at run time takes and gives any object", () => {
    const schema = {} as JsonSchema;
    const made = tool("t", "d", schema, (input) => {
      expectTypeOf(input).toExtend<Any>();
      return input["city"];
    });
    void made.execute({ city: "Rome" });
    expectTypeOf<GivenInput<{ type: "object" }>>().toEqualTypeOf<Any>();
  });

  test("that is a choice or a reference takes any object", () => {
    expectTypeOf<GivenInput<{ $ref: "#/$defs/a" }>>().toEqualTypeOf<Any>();
    expectTypeOf<ParsedInput<{ anyOf: readonly [{ type: "object" }] }>>().toEqualTypeOf<Any>();
    expectTypeOf<GivenInput<{ oneOf: readonly [] }>>().toEqualTypeOf<Any>();
    expectTypeOf<GivenInput<{ allOf: readonly [] }>>().toEqualTypeOf<Any>();
  });
});

describe("the short form", () => {
  test("knows what the constructors make", () => {
    const made = tool("t", "d", { s: String, n: Number, b: Boolean, a: Array, o: Object }, (input) => input);
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{
      s: string;
      n: number;
      b: boolean;
      a: unknown[];
      o: Any;
    }>();
  });

  test("knows the flags, in the order in which they count", () => {
    const schema = {
      plain: { type: "string" },
      must: { type: "string", required: true, optional: true, default: "x" },
      mayNot: { type: "string", required: false },
      may: { type: "integer", optional: true },
      filled: { type: "string", enum: ["C", "F"], default: "C" },
      nested: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    } as const;
    expectTypeOf<GivenInput<typeof schema>>().toEqualTypeOf<{
      plain: string;
      must: string;
      mayNot?: string;
      may?: number;
      filled?: "C" | "F";
      nested: { a: string };
    }>();
    expectTypeOf<ParsedInput<typeof schema>>().toEqualTypeOf<{
      plain: string;
      must: string;
      mayNot?: string;
      may?: number;
      filled: "C" | "F";
      nested: { a: string };
    }>();
  });

  test("needs no `as const`", () => {
    tool("t", "d", { unit: { type: "string", enum: ["C", "F"], optional: true } }, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ unit?: "C" | "F" }>();
    });
  });

  test("knows Standard Schemas as parameters", () => {
    const made = tool(
      "t",
      "d",
      {
        n: z.string().transform(Number),
        may: z.string().optional(),
        filled: z.boolean().default(true),
        city: String,
      },
      (input) => {
        expectTypeOf(input).toEqualTypeOf<{
          n: number;
          filled: boolean;
          city: string;
          may?: string | undefined;
        }>();
      },
    );
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{
      n: string;
      city: string;
      may?: string | undefined;
      filled?: boolean | undefined;
    }>();
  });

  test("knows parameters that are called as JSON Schema's own words", () => {
    tool("t", "d", { type: String, properties: { type: "object" } }, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ type: string; properties: Any }>();
    });
  });
});

test("a wrong input does not compile", () => {
  const made = tool("t", "d", { city: String, days: { type: "integer", optional: true } }, () => 1);
  expectTypeOf(made.execute({ city: "Rome" })).resolves.toBeNumber();
  expectTypeOf(made.execute({ city: "Rome", days: 2 })).resolves.toBeNumber();
  // @ts-expect-error -- city is missing
  void made.execute({});
  // @ts-expect-error -- city is a text
  void made.execute({ city: 1 });
  // @ts-expect-error -- a misspelt parameter
  void made.execute({ city: "Rome", dais: 2 });
});

test("without a schema, input is any object", () => {
  const made = tool({ name: "t", description: "d", registry: false }, async (input) => {
    expectTypeOf(input).toEqualTypeOf<Any>();
  });
  expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<Any>();
});

test("a class or a function that is no type of a parameter does not compile", () => {
  const day = { type: "string", format: "date" } as const;
  const code = () => [
    // @ts-expect-error -- a Date cannot be written in JSON
    tool("t", "d", { x: Date }, ({ x }) => x),
    // @ts-expect-error -- beside others too
    tool("t", "d", { day, x: Map, y: Number }, () => 1),
    // @ts-expect-error -- nor in the long form
    tool({ name: "t", description: "d", input: { x: Date }, registry: false }, async () => 1),
    // @ts-expect-error -- nor a function
    tool("t", "d", { x: (y: number) => y }, () => 1),
    // @ts-expect-error -- nor in the shape of an answer
    new Client({ model: "m", output: { x: Date } }),
    tool("t", "d", { day, any: Object, list: Array, n: z.number() }, () => 1),
  ];
  expectTypeOf(code).toBeFunction();
});
