import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  type InputOf,
  type ItemOf,
  literal,
  type OutputOf,
  type Run,
  type Tool,
  type ToolContext,
  Turn,
  tool,
} from "../index.ts";

/** Takes code that is compiled and never run: what must not compile in it is marked. */
function expectToCompile(_code: () => void): void {}

const registry = false;
const name = "t";
const description = "d";

const single = tool({ name, description, input: { a: Number }, registry }, async ({ a }) => `${a}`);
const stream = tool({ name, description, input: { to: Number }, registry }, async function* ({ to }) {
  yield to;
});
const streamWithResult = tool({ name, description, registry }, async function* () {
  yield 1;
  return "result";
});

describe("what a tool takes and gives", () => {
  test("for an async function", () => {
    expectTypeOf(single).toEqualTypeOf<Tool<{ a: number }, string, never, { a: number }, "t">>();
    expectTypeOf<InputOf<typeof single>>().toEqualTypeOf<{ a: number }>();
    expectTypeOf<OutputOf<typeof single>>().toEqualTypeOf<string>();
    expectTypeOf<ItemOf<typeof single>>().toEqualTypeOf<never>();
    expectTypeOf(single.execute({ a: 1 })).toEqualTypeOf<Promise<string>>();
  });

  test("for a stream, whose output is the list of its values", () => {
    expectTypeOf<InputOf<typeof stream>>().toEqualTypeOf<{ to: number }>();
    expectTypeOf<ItemOf<typeof stream>>().toEqualTypeOf<number>();
    expectTypeOf<OutputOf<typeof stream>>().toEqualTypeOf<number[]>();
    expectTypeOf(stream.execute({ to: 1 })).toExtend<AsyncIterable<number>>();
    // @ts-expect-error -- a stream is iterated, not awaited for a value
    expectTypeOf(stream.execute({ to: 1 })).toExtend<Promise<unknown>>();
  });

  test("for a stream with a result, which is its output", () => {
    expectTypeOf<ItemOf<typeof streamWithResult>>().toEqualTypeOf<number>();
    expectTypeOf<OutputOf<typeof streamWithResult>>().toEqualTypeOf<string>();
    expectTypeOf(streamWithResult.execute()).toEqualTypeOf<Run<number, string>>();
  });

  test("for the short form, plain or not", () => {
    const input = { a: Number };
    type Made = Tool<{ a: number }, number, never, { a: number }, "t">;
    expectTypeOf(tool(name, description, input, ({ a }) => a)).toEqualTypeOf<Made>();
    expectTypeOf(tool(name, description, input, async ({ a }) => a)).toEqualTypeOf<Made>();
    const streaming = tool(name, description, input, async function* ({ a }) {
      yield a;
    });
    expectTypeOf<ItemOf<typeof streaming>>().toEqualTypeOf<number>();
    expectTypeOf<OutputOf<typeof streaming>>().toEqualTypeOf<number[]>();
  });

  test("for a subtool", () => {
    const child = single.subtool({ name, description, input: { b: String } }, async ({ b }) => b.length);
    expectTypeOf(child).toEqualTypeOf<Tool<{ b: string }, number, never, { b: string }, "t.t">>();
    const grandchild = child.subtool({ name: "u", description }, async () => 1);
    expectTypeOf(grandchild.name).toEqualTypeOf<"t.t.u">();
  });

  test("with any name, where it is not known", () => {
    const any: string = name;
    const made = tool({ name: any, description, registry }, async () => 1);
    expectTypeOf(made.name).toEqualTypeOf<string>();
    expectTypeOf(single).toExtend<Tool<{ a: number }, string>>();
  });

  test("any tool is an AnyTool", () => {
    expectTypeOf(single).toExtend<AnyTool>();
    expectTypeOf(stream).toExtend<AnyTool>();
    expectTypeOf([single, stream, streamWithResult]).toExtend<AnyTool[]>();
  });

  test("the function gets a context", () => {
    tool(name, description, {}, (_, context) => {
      expectTypeOf(context).toEqualTypeOf<ToolContext>();
      expectTypeOf(context.agent).toBeNullable();
      expectTypeOf(context.contextQueue).toBeNullable();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    });
  });
});

describe("the strict form", () => {
  test("refuses a function that returns no promise", () => {
    expectToCompile(() => {
      // @ts-expect-error -- write `async`
      tool({ name, description, registry }, () => 1);
      // @ts-expect-error -- write `async`, and what it takes is known all the same
      tool({ name, description, input: { a: Number }, registry }, ({ a }) => a);
      // @ts-expect-error -- write `async`
      single.subtool({ name, description }, () => 1);
    });
  });

  test("refuses an option that there is not", () => {
    expectToCompile(() => {
      // @ts-expect-error -- lock is misspelt
      tool({ name, description, lokc: true, registry }, async () => 1);
    });
  });
});

describe("fixed arguments", () => {
  test("are left out of what a caller gives, and reach the function", () => {
    const made = tool(
      { name, description, input: { city: String, unit: String }, fixed: { unit: "C" }, registry },
      async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ city: string; unit: string }>();
      },
    );
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{ city: string }>();
    void made.execute({ city: "Rome" });
    // @ts-expect-error -- unit is fixed
    void made.execute({ city: "Rome", unit: "F" });
  });

  test("may be lazy, or literal", () => {
    const input = { a: Number, b: Number, c: Number, d: Number };
    const fixed = { a: () => 1, b: async () => 2, c: literal(3) };
    const made = tool({ name, description, input, fixed, registry }, async ({ a, b, c, d }) => a + b + c + d);
    expectTypeOf<InputOf<typeof made>>().toEqualTypeOf<{ d: number }>();
  });

  test("are left out for every kind of schema", () => {
    const zod = tool(
      { name, description, input: z.object({ a: z.string(), b: z.number() }), fixed: { b: 1 }, registry },
      async () => 1,
    );
    expectTypeOf<InputOf<typeof zod>>().toEqualTypeOf<{ a: string }>();
    const json = tool(
      {
        name,
        description,
        input: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        fixed: { b: () => 1 },
        registry,
      },
      async () => 1,
    );
    expectTypeOf<InputOf<typeof json>>().toEqualTypeOf<{ a: string }>();
    const child = single.subtool(
      { name, description, input: { a: String, b: Number }, fixed: { b: 1 } },
      async () => 1,
    );
    expectTypeOf<InputOf<typeof child>>().toEqualTypeOf<{ a: string }>();
  });

  test("must have the type of their parameter", () => {
    expectToCompile(() => {
      // @ts-expect-error -- unit is a text
      tool({ name, description, input: { unit: String }, fixed: { unit: 1 }, registry }, async () => 1);
      // @ts-expect-error -- unit is a text, also when it is lazy
      tool({ name, description, input: { unit: String }, fixed: { unit: () => 1 }, registry }, async () => 1);
    });
  });
});

describe("a completion check", () => {
  const type = "completion_check";

  test("must promise a boolean", () => {
    const done = tool({ name, description, type, registry }, async () => true);
    expectTypeOf<OutputOf<typeof done>>().toEqualTypeOf<boolean>();
    // @ts-expect-error -- a text is no boolean
    tool({ name, description, type, registry }, async () => "yes");
    // @ts-expect-error -- neither is perhaps nothing
    tool({ name, description, type, registry }, async () => (Math.random() > 0.5 ? true : undefined));
  });

  test("cannot be a stream", () => {
    expectToCompile(() => {
      // @ts-expect-error -- a stream
      tool({ name, description, type, registry }, async function* () {
        yield true;
      });
    });
  });

  test("is the only type there is", () => {
    expectToCompile(() => {
      // @ts-expect-error -- unknown type
      tool({ name, description, type: "check", registry }, async () => true);
    });
  });

  test("is checked in subtools too", () => {
    expectToCompile(() => {
      // @ts-expect-error -- a text is no boolean
      single.subtool({ name, description, type }, async () => "yes");
    });
  });
});

describe("a turn", () => {
  test("knows what its tool takes and gives", () => {
    const turn = new Turn(single, { a: 1 });
    expectTypeOf(turn).toEqualTypeOf<Turn<{ a: number }, string, never>>();
    expectTypeOf(turn.output).toEqualTypeOf<string | undefined>();
    expectTypeOf(turn.returning()).toEqualTypeOf<Promise<string>>();
  });

  test("of a stream knows its values and its output", () => {
    const turn = new Turn(stream, { to: 1 });
    expectTypeOf(turn.output).toEqualTypeOf<number[] | undefined>();
    expectTypeOf(turn.yielding()).toExtend<AsyncIterable<number>>();
    expectTypeOf(new Turn(streamWithResult).output).toEqualTypeOf<string | undefined>();
    expectTypeOf(new Turn(streamWithResult).yielding()).toEqualTypeOf<Run<number, string>>();
  });

  test("takes lazy values in place of plain ones", () => {
    expectToCompile(() => {
      void new Turn(single, { a: () => 1 });
      void new Turn(single, { a: async () => 1 });
      void new Turn(single, { a: literal(1) });
    });
  });

  test("of a name takes anything and gives something", () => {
    const turn = new Turn("name", { any: "thing" });
    expectTypeOf(turn.output).toEqualTypeOf<unknown>();
    expectTypeOf(turn.returning()).toEqualTypeOf<Promise<unknown>>();
  });
});

test("an input with required keys must be given, one without may be left out", () => {
  const add = tool("add", "d", { a: Number }, ({ a }) => a);
  const greet = tool("greet", "d", { name: { type: "string", optional: true } }, ({ name }) => name);
  // @ts-expect-error -- `a` is required
  void (() => add.execute());
  // @ts-expect-error -- `a` is required
  void (() => new Turn(add));
  expectTypeOf(() => greet.execute()).toBeFunction();
  void (() => [
    add.execute({ a: 1 }),
    new Turn(add, { a: () => 1 }),
    greet.execute(),
    new Turn(greet),
    new Turn("add"),
  ]);
});

test("an input that is a union stays one, without its fixed arguments", () => {
  const input = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), radius: z.number(), unit: z.string() }),
    z.object({ kind: z.literal("square"), side: z.number(), unit: z.string() }),
  ]);
  const area = tool({ name, description, input, fixed: { unit: "m" }, registry }, async ({ kind }) => kind);
  type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
  expectTypeOf<InputOf<typeof area>>().toEqualTypeOf<Shape>();
  // @ts-expect-error -- a circle has a radius
  void (() => area.execute({ kind: "circle" }));
});
