import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { InvalidTypeError, UnregisteredToolError } from "../errors.ts";
import {
  defaultRegistry,
  InvalidArgumentError,
  Registry,
  RondoError,
  ToolRegistry,
  Turn,
  tool,
} from "../index.ts";

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

/** Calls `tool()` as untyped code might. */
const defineWith = (options: object, fn: unknown = async () => 1) =>
  (tool as (...args: unknown[]) => unknown)({ name: "t", description: "d", registry, ...options }, fn);
const defineShort = tool as unknown as (...args: unknown[]) => ReturnType<typeof tool>;

describe("the strict form", () => {
  test("makes a tool of an async function", async () => {
    const add = tool(
      { name: "add", description: "Adds.", input: { a: Number, b: Number }, registry },
      async ({ a, b }) => a + b,
    );
    expect(add.isStreaming).toBe(false);
    expect(await add.execute({ a: 1, b: 2 })).toBe(3);
  });

  test("makes a streaming tool of an async generator function", async () => {
    const count = tool(
      { name: "count", description: "Counts.", input: { to: Number }, registry },
      async function* ({ to }) {
        for (let n = 1; n <= to; n += 1) yield n;
      },
    );
    expect(count.isStreaming).toBe(true);
    expect(await Array.fromAsync(count.execute({ to: 3 }))).toEqual([1, 2, 3]);
  });

  test.each<[string, unknown]>([
    ["a plain function", () => 1],
    ["a plain function that returns a promise", () => Promise.resolve(1)],
    ["a generator function", function* () {}],
    ["a class", Map],
    ["nothing", undefined],
    ["an object", { run: async () => 1 }],
  ])("rejects %s with a TypeError that says to write async, and registers nothing", (_, fn) => {
    const define = () =>
      (tool as (...args: unknown[]) => unknown)({ name: "t", description: "d", registry }, fn);
    expect(define).toThrow(TypeError);
    expect(define).toThrow(RondoError);
    expect(define).toThrow(/^fn: expected an async function or an async generator function.*Write `async`/);
    expect(define).toThrow(/tool\(\{ name: "[a-z]+", … \}, async \(input\) => …\)/);
    expect(registry.tools.all()).toEqual([]);
  });

  test("does not call a function to find out its kind", () => {
    let calls = 0;
    expect(() =>
      defineWith({}, () => {
        calls += 1;
        return Promise.resolve();
      }),
    ).toThrow(TypeError);
    expect(calls).toBe(0);
  });

  test("registers the tool under its name in the registry that it was given", () => {
    const made = tool({ name: "found", description: "d", registry }, async () => 1);
    expect(registry.tools.get("found")).toBe(made);
    expect(made).toMatchObject({ registry, isRegistered: true });
    expect(() => ToolRegistry.get("found")).toThrow(UnregisteredToolError);
  });

  test("registers in the process's registry by default", () => {
    const made = tool({ name: "define_test_default", description: "d" }, async () => 1);
    try {
      expect(ToolRegistry.get("define_test_default")).toBe(made);
      expect(made.registry).toBe(defaultRegistry);
    } finally {
      ToolRegistry.unregister("define_test_default");
    }
  });

  test("registers nowhere with registry: false", () => {
    const made = tool({ name: "hidden", description: "d", registry: false }, async () => 1);
    expect(made.isRegistered).toBe(false);
    expect(ToolRegistry.has("hidden")).toBe(false);
  });

  test("refuses a name that another tool of the registry has, and keeps that one", () => {
    const first = tool({ name: "twice", description: "d", registry }, async () => 1);
    const again = () => tool({ name: "twice", description: "d", registry }, async () => 2);
    expect(again).toThrow(InvalidArgumentError);
    expect(again).toThrow("The tool 'twice' is already registered");
    expect(registry.tools.all()).toEqual([first]);
  });

  test("lets two registries have the same name", () => {
    tool({ name: "twice", description: "d", registry }, async () => 1);
    expect(() =>
      tool({ name: "twice", description: "d", registry: new Registry() }, async () => 2),
    ).not.toThrow();
  });
});

describe("the short form", () => {
  test("wraps a plain function", async () => {
    const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);
    const result = add.execute({ a: 1, b: 2 });
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe(3);
  });

  test("turns an error of a plain function into a rejection", async () => {
    const fail = tool("fail", "Fails.", {}, () => {
      throw new Error("no");
    });
    await expect(fail.execute({})).rejects.toThrow("no");
  });

  test("takes a plain function that returns a promise, an async one, and an async generator", async () => {
    expect(await tool("t", "d", {}, () => Promise.resolve(1)).execute({})).toBe(1);
    expect(await tool("t", "d", {}, async () => 2).execute({})).toBe(2);
    const stream = tool("t", "d", {}, async function* () {
      yield 3;
    });
    expect(await Array.fromAsync(stream.execute({}))).toEqual([3]);
  });

  test("is not registered, so that the same name can be used twice", () => {
    const first = tool("same", "d", {}, () => 1);
    const second = tool("same", "d", {}, () => 2);
    expect(first).not.toBe(second);
    expect(first.isRegistered).toBe(false);
    expect(ToolRegistry.has("same")).toBe(false);
  });

  test.each<[string, unknown]>([
    ["a generator function", function* () {}],
    ["nothing", undefined],
    ["an object", {}],
  ])("refuses %s as a handler", (_, handler) => {
    const define = () => defineShort("t", "d", {}, handler);
    expect(define).toThrow(TypeError);
    expect(define).toThrow(/^handler: expected a function/);
  });
});

describe("the definition is checked", () => {
  test.each(["", "two words", "a.b", "ünï", "x".repeat(65)])("a name like '%s' is refused", (name) => {
    expect(() => defineWith({ name })).toThrow(/^name: expected 1 to 64 letters/);
    expect(() => defineShort(name, "d", {}, () => 1)).toThrow(InvalidArgumentError);
    expect(registry.tools.all()).toEqual([]);
  });

  test.each(["a", "get_weather", "Get-Weather-2", "x".repeat(64)])("a name like '%s' is taken", (name) => {
    expect(defineWith({ name })).toMatchObject({ name });
  });

  test.each<[string, object, new (...args: never) => Error, string]>([
    ["no name", { name: undefined }, InvalidTypeError, "name: expected 1 to 64"],
    ["no description", { description: undefined }, InvalidTypeError, "description: expected a string"],
    [
      "a misspelt option",
      { lokc: true },
      InvalidArgumentError,
      "options.lokc: expected one of the options name,",
    ],
    ["a lock that is no boolean", { lock: "yes" }, InvalidTypeError, "lock: expected true or false"],
    [
      "idempotent that is no boolean",
      { idempotent: 1 },
      InvalidTypeError,
      "idempotent: expected true or false",
    ],
    ["tags as one text", { tags: "a" }, InvalidTypeError, "tags: expected a list or set of strings"],
    ["a tag that is no text", { tags: ["a", 1] }, InvalidTypeError, "tags[1]: expected a string, got 1"],
    [
      "a timeout of 0",
      { timeoutMs: 0 },
      InvalidArgumentError,
      "timeoutMs: expected a number of milliseconds",
    ],
    [
      "a timeout as text",
      { timeoutMs: "5" },
      InvalidTypeError,
      "timeoutMs: expected a number of milliseconds",
    ],
    ["an unknown type", { type: "check" }, InvalidArgumentError, `type: expected "completion_check"`],
    [
      "a registry that is none",
      { registry: {} },
      InvalidTypeError,
      "registry: expected a Registry, or false",
    ],
    ["an input that is no schema", { input: 5 }, InvalidTypeError, "input: expected a Standard Schema"],
    ["an input that is a list", { input: [] }, InvalidTypeError, "input: expected a Standard Schema"],
    [
      "an output that is no schema",
      { output: "text" },
      InvalidTypeError,
      "output: expected a Standard Schema or",
    ],
    ["fixed arguments that are no object", { fixed: [] }, InvalidTypeError, "fixed: expected a plain object"],
  ])("%s is refused, and nothing is registered", (_, options, errorClass, message) => {
    const define = () => defineWith(options);
    expect(define).toThrow(errorClass);
    expect(define).toThrow(message);
    expect(registry.tools.all()).toEqual([]);
  });

  test.each([undefined, null, 5, []])("%o is refused as the options", (options) => {
    expect(() => (tool as (...args: unknown[]) => unknown)(options, async () => 1)).toThrow(
      /^options: expected a plain object/,
    );
  });
});

describe("a tool has", () => {
  test("defaults for missing options", () => {
    const made = tool({ name: "plain", description: "d", registry }, async () => 1);
    expect(made).toMatchObject({
      lock: null,
      type: null,
      timeoutMs: null,
      isIdempotent: false,
      isStreaming: false,
      parent: null,
      fixed: {},
      hooks: [],
      subtools: [],
    });
    expect([...made.tags]).toEqual([]);
  });

  test("the given options", () => {
    const fn = async () => 1;
    const made = tool(
      {
        name: "full",
        description: "Does.",
        lock: true,
        tags: ["a", "b"],
        idempotent: true,
        timeoutMs: 5,
        registry,
      },
      fn,
    );
    expect(made).toMatchObject({ name: "full", description: "Does.", fn, isIdempotent: true, timeoutMs: 5 });
    expect(made.lock).toMatchObject({ isHeld: false });
  });

  test("its hooks in a list", () => {
    const made = tool({ name: "hooked", description: "d", registry }, async () => 1);
    const hook = made.beforeInvoke(async () => {});
    expect(made.hooks).toEqual([hook]);
  });

  test("no call of its own: execute() runs it", () => {
    expect(typeof tool({ name: "t", description: "d", registry }, async () => 1)).toBe("object");
  });

  test("its tags as a set that cannot be changed, whatever they were given as", () => {
    const given = new Set(["a", "b"]);
    const made = tool({ name: "tagged", description: "d", tags: given, registry }, async () => 1);
    given.add("c");
    expect([...made.tags]).toEqual(["a", "b"]);
    expect(() => (made.tags as Set<string>).add("c")).toThrow("Tags cannot be changed");
    expect(() => (made.tags as Set<string>).delete("a")).toThrow("Tags cannot be changed");
    expect(() => (made.tags as Set<string>).clear()).toThrow("Tags cannot be changed");
    expect([...made.tags]).toEqual(["a", "b"]);
  });

  test("fixed arguments that cannot be changed, not even through the original object", () => {
    const fixed = { unit: "C" };
    const made = tool(
      { name: "fixed", description: "d", input: { unit: String }, fixed, registry },
      async ({ unit }) => unit,
    );
    fixed.unit = "F";
    expect(made.fixed).toEqual({ unit: "C" });
    expect(Object.isFrozen(made.fixed)).toBe(true);
  });
});

describe("a completion check", () => {
  const type = "completion_check";

  test("is an async function that returns a boolean", async () => {
    const done = tool({ name: "done", description: "d", type, registry }, async () => true);
    expect(done.type).toBe("completion_check");
    expect(await done.execute()).toBe(true);
  });

  test("cannot be a stream", () => {
    const define = () => defineWith({ type }, async function* () {});
    expect(define).toThrow(TypeError);
    expect(define).toThrow("A stream cannot be a completion check.");
  });

  test.each<[string, unknown]>([
    ["JSON Schema", { type: "string" }],
    ["JSON Schema without a type", {}],
    ["Standard Schema", z.string()],
  ])("cannot declare another output than a boolean: %s", (_, output) => {
    const define = () => defineWith({ type, output });
    expect(define).toThrow(TypeError);
    expect(define).toThrow("output: expected a boolean schema, for a completion check");
  });

  test.each<[string, unknown]>([
    ["JSON Schema", { type: "boolean" }],
    ["Standard Schema", z.boolean()],
  ])("may declare a boolean output: %s", (_, output) => {
    expect(() => defineWith({ type, output })).not.toThrow();
  });
});

test("the declared output is documented and not enforced", async () => {
  const made = tool(
    { name: "t", description: "d", output: z.object({ n: z.number() }), registry },
    async () => "something else",
  );
  expect(made.metadata.outputSchema).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  expect(await made.execute()).toBe("something else");
});

test("a turn finds the tool by its name, which must be there first", async () => {
  expect(() => new Turn("late", {}, { registry })).toThrow(UnregisteredToolError);
  tool({ name: "late", description: "d", registry }, async () => 1);
  expect(await new Turn("late", {}, { registry }).returning()).toBe(1);
});
