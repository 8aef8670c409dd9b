import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { InvalidJsonError, UnregisteredToolError, UnserializableError } from "../errors.ts";
import { ContextItem, hook, type JsonObject, literal, Registry, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

/** Takes anything, and gives back `input.result`. */
const give = tool("give", "Give back a value.", { type: "object" }, ({ result }) => result);

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const count = tool("count", "Count up.", { to: Number }, async function* ({ to }) {
  for (let n = 1; n <= to; n += 1) yield n;
});

/** What a file or a database would give back. */
const throughText = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
const restore = (turn: Turn) => Turn.fromJSON(throughText(turn), { tools: [give, add, count] });

describe("a saved turn", () => {
  test("has everything that the turn knows, with times as ISO strings", async () => {
    const turn = new Turn(
      add,
      { a: 1, b: 2 },
      { timeoutMs: 500, metadata: { user: "Ada" }, tags: ["sum"], source: "model", callId: "call_1" },
    );
    await turn.returning();
    expect(turn.toJSON()).toEqual({
      version: 1,
      uuid: turn.uuid,
      toolName: "add",
      input: { a: 1, b: 2 },
      metadata: { user: "Ada" },
      timeoutMs: 500,
      tags: ["sum"],
      source: "model",
      callId: "call_1",
      attempts: 1,
      startTime: turn.startTime?.toISOString(),
      endTime: turn.endTime?.toISOString(),
      stopReason: "completed",
      hasReturned: true,
      output: 3,
    });
  });

  test("has no outcome before it has run", () => {
    const json = new Turn(add, { a: 1, b: 2 }).toJSON();
    expect(json).toMatchObject({
      attempts: 0,
      startTime: null,
      endTime: null,
      stopReason: null,
      output: null,
    });
    expect(Turn.fromJSON(json, { tools: [add] }).output).toBeUndefined();
  });

  test.each([[null], [undefined]])("keeps a result of %s", async (result) => {
    const nothing = tool("nothing", "", {}, () => result);
    const turn = new Turn(nothing);
    await turn.returning();
    expect(Turn.fromJSON(throughText(turn), { tools: [nothing] }).output).toBe(result);
  });

  test("keeps undefined inside its input", () => {
    const note = tool("note", "", { about: Object }, () => 1);
    const turn = new Turn(note, { about: { text: undefined, list: [undefined] } });
    const restored = Turn.fromJSON(throughText(turn), { tools: [note] });
    expect(restored.input).toStrictEqual(turn.input);
  });

  test("goes by the full name of a subtool", () => {
    const users = tool({ name: "users", description: "", registry }, async () => 1);
    const create = users.subtool({ name: "create", description: "" }, async () => 1);
    const json = throughText(new Turn(create));
    expect(json["toolName"]).toBe("users.create");
    expect(Turn.fromJSON(json, { registry }).tool).toBe(create);
    expect(Turn.fromJSON(json, { tools: [users] }).tool).toBe(create);
  });

  test("has no hooks; after a restore only the global ones fire, once, though they were on the turn too", async () => {
    const seen: string[] = [];
    const look = tool({ name: "look", description: "", registry }, async () => 1);
    const global = hook(["turn.beforeRun", "turn.afterRun"], async () => seen.push("global"), { registry });
    const turn = new Turn(look);
    turn.beforeRun(global);
    turn.beforeRun(async () => seen.push("own"));
    const restored = Turn.fromJSON(throughText(turn), { registry });
    expect(restored.hooks).toEqual([]);
    restored.afterRun(global);
    await restored.returning();
    expect(seen).toEqual(["global", "global"]);
  });

  test("can be made while it runs, as a turn that has not ended", async () => {
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = tool("slow", "", {}, async () => {
      started.resolve();
      await gate.promise;
    });
    const turn = new Turn(slow);
    const running = turn.returning();
    await started.promise;
    const restored = Turn.fromJSON(throughText(turn), { tools: [slow] });
    expect(restored).toMatchObject({ stopReason: null, endTime: null, attempts: 1, isRunning: false });
    expect(restored.startTime).toEqual(turn.startTime);
    gate.resolve();
    await running;
  });

  test("keeps a time limit of Infinity", () => {
    const turn = new Turn(add, { a: 1, b: 2 }, { timeoutMs: Number.POSITIVE_INFINITY });
    expect(turn.toJSON()["timeoutMs"]).toBeNull();
    expect(restore(turn).timeoutMs).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("a restored turn", () => {
  test("is the same turn: identity, options and outcome", async () => {
    const turn: Turn = new Turn(
      count,
      { to: 2 },
      { timeoutMs: 500, metadata: { n: [1] }, tags: ["a", "b"], source: "model", callId: "c" },
    );
    await Array.fromAsync(turn.yielding());
    const restored = restore(turn);
    expect(restored.toJSON()).toEqual(turn.toJSON());
    expect(restored).toMatchObject({ uuid: turn.uuid, tool: count, output: [1, 2], stopReason: "completed" });
    expect(restored.startTime).toEqual(turn.startTime);
    expect(restored.tags).toEqual(turn.tags);
  });

  test("runs again under the same idempotency key, as the next attempt", async () => {
    const seen: unknown[] = [];
    const look = tool(
      { name: "look", description: "", registry },
      async (_input, { attempt, idempotencyKey }) => {
        seen.push([attempt, idempotencyKey]);
      },
    );
    const turn = new Turn(look);
    await turn.returning();
    await Turn.fromJSON(throughText(turn), { registry }).returning();
    expect(seen).toEqual([
      [1, turn.uuid],
      [2, turn.uuid],
    ]);
  });

  test.each(["error", "timeout", "cancelled"] as const)("remembers that it has ended by %s", async (how) => {
    collectWarnings();
    const controller = new AbortController();
    const work = tool("work", "", {}, async (_input, { signal }) => {
      if (how === "error") throw new Error("failed");
      if (how === "cancelled") controller.abort();
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        if (signal.aborted) resolve();
      });
    });
    const turn = new Turn(work, {}, { timeoutMs: 2 });
    await turn.returning({ signal: controller.signal }).catch(() => {});
    const restored = Turn.fromJSON(throughText(turn), { tools: [work] });
    expect(restored).toMatchObject({ stopReason: how, output: undefined, hasReturned: false });
  });

  test("needs no more than the name of its tool", () => {
    const turn = Turn.fromJSON({ toolName: "add" }, { tools: [add] });
    expect(turn).toMatchObject({
      tool: add,
      input: {},
      metadata: {},
      timeoutMs: 60_000,
      source: "code",
      callId: undefined,
      attempts: 0,
      startTime: null,
      endTime: null,
      stopReason: null,
      output: undefined,
    });
    expect(turn.uuid).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("takes its tool from the given ones first, then from the registry", () => {
    const registered = tool({ name: "look", description: "", registry }, async () => 1);
    const given = tool("look", "", {}, () => 2);
    expect(Turn.fromJSON({ toolName: "look" }, { registry }).tool).toBe(registered);
    expect(Turn.fromJSON({ toolName: "look" }, { tools: [given], registry }).tool).toBe(given);
  });

  test("whose tool is unknown is refused", () => {
    expect(() => Turn.fromJSON({ toolName: "look" }, { tools: [add], registry })).toThrow(
      UnregisteredToolError,
    );
  });

  test("may hold turns and context items, whose tools are found in the same place", () => {
    const inner = new Turn(add, { a: 1, b: 2 }, { metadata: { deep: new Turn(count, { to: 1 }) } });
    const item = new ContextItem({ content: inner, id: "plan", description: "a plan" });
    const restored = restore(new Turn(give, { result: [inner, item] }));
    const [turn, kept] = restored.input["result"] as [Turn, ContextItem<Turn>];
    expect(turn).toBeInstanceOf(Turn);
    expect(turn.toJSON()).toEqual(inner.toJSON());
    expect((turn.metadata["deep"] as Turn).tool).toBe(count);
    expect(kept).toBeInstanceOf(ContextItem);
    expect(kept).toMatchObject({ id: "plan", description: "a plan" });
    expect(kept.content.toJSON()).toEqual(inner.toJSON());
  });
});

describe("malformed JSON of a turn", () => {
  test.each([
    ["turn", "text"],
    ["turn", null],
    ["turn.toolName", {}],
    ["turn.toolName", { toolName: 7 }],
    ["turn.uuid", { toolName: "add", uuid: 7 }],
    ["turn.callId", { toolName: "add", callId: {} }],
    ["turn.tags", { toolName: "add", tags: "a" }],
    ["turn.tags[1]", { toolName: "add", tags: ["a", 7] }],
    ["turn.timeoutMs", { toolName: "add", timeoutMs: "5" }],
    ["turn.attempts", { toolName: "add", attempts: "1" }],
    ["turn.startTime", { toolName: "add", startTime: "yesterday" }],
    ["turn.endTime", { toolName: "add", endTime: 7 }],
    ["turn.stopReason", { toolName: "add", stopReason: "bored" }],
    ["turn.hasReturned", { toolName: "add", hasReturned: 1 }],
    ["turn.input.when", { toolName: "add", input: { when: { $rondo: "date", value: "soon" } } }],
    ["turn.output[1]", { toolName: "add", output: [1, { $rondo: "spaceship", value: 1 }] }],
    ["turn.metadata.inner.toolName", { toolName: "add", metadata: { inner: { $rondo: "turn", value: {} } } }],
    ["turn.version", { toolName: "add", version: 2 }],
    ["turn.version", { toolName: "add", version: "1" }],
  ])("is refused, naming %s", (path, json) => {
    const read = () => Turn.fromJSON(json, { tools: [add] });
    expect(read).toThrow(InvalidJsonError);
    expect(read).toThrow(`Cannot read ${path}:`);
  });

  test("of a newer version says which versions can be read", () => {
    expect(() => Turn.fromJSON({ toolName: "add", version: 99 }, { tools: [add] })).toThrow(
      "Cannot read turn.version: expected a format version from 1 to 1, got 99.",
    );
  });

  test("names the place of the turn in a larger whole, if given", () => {
    const read = () => Turn.fromJSON({}, { path: "agent.queue[2]" });
    expect(read).toThrow("Cannot read agent.queue[2].toolName");
  });
});

describe("what cannot be saved", () => {
  test("is a lazy value, whose function is not called", () => {
    let calls = 0;
    const secret = () => {
      calls += 1;
      return 1;
    };
    const turn = new Turn(add, { a: secret, b: 2 });
    expect(() => turn.toJSON()).toThrow(UnserializableError);
    expect(() => JSON.stringify(turn)).toThrow(
      "Cannot save input.a: the function 'secret', and its value is only known when the tool runs.",
    );
    expect(calls).toBe(0);
  });

  test("is a literal function", () => {
    const turn = new Turn(give, { callback: literal(() => 1) });
    expect(() => turn.toJSON()).toThrow("Cannot save input.callback");
  });

  test.each<[string, () => Turn]>([
    ["input.list[0].fn", () => new Turn(give, { list: [{ fn: () => 1 }] })],
    ["metadata.socket", () => new Turn(give, {}, { metadata: { socket: new AbortController() } })],
    ["metadata.symbol", () => new Turn(give, {}, { metadata: { symbol: Symbol("a") } })],
  ])("is named by its place: %s", (path, make) => {
    expect(() => make().toJSON()).toThrow(UnserializableError);
    expect(() => make().toJSON()).toThrow(`Cannot save ${path}:`);
  });

  test("is an output of a class that JSON would flatten", async () => {
    class Point {
      x = 1;
    }
    const turn = new Turn(tool("locate", "", {}, () => ({ at: new Point() })));
    await turn.returning();
    expect(() => turn.toJSON()).toThrow("Cannot save output.at: an instance of Point");
  });
});

describe("any turn", () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.constantFrom(null, undefined),
  );
  const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "$rondo", "value", "toJSON", "version"));
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
      fc.array(fc.tuple(leaf, tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
      fc.array(leaf, { maxLength: 3 }).map((values) => new Set(values)),
      tie("value").map((content) => new ContextItem({ content, id: "a", description: "b" })),
      tie("value").map((inner) => new Turn(give, { result: [inner] }, { metadata: { inner } })),
    ),
  })).value;
  const object = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });
  const options = fc.record(
    {
      timeoutMs: fc.constantFrom(1, 60_000, Number.POSITIVE_INFINITY),
      tags: fc.array(fc.string(), { maxLength: 3 }),
      source: fc.constantFrom("code", "model"),
      callId: fc.string(),
      uuid: fc.uuid(),
    },
    { requiredKeys: [] },
  );

  test("comes back from JSON as it was, whatever its input and metadata", () => {
    fc.assert(
      fc.property(object, object, options, (input, metadata, rest) => {
        const turn: Turn = new Turn(give, input, { metadata, ...rest });
        const restored = restore(turn);
        expect(restored.input).toEqual(turn.input);
        expect(restored.metadata).toEqual(turn.metadata);
        expect(restored.toJSON()).toEqual(turn.toJSON());
      }),
    );
  });

  test("comes back from JSON as it was, whatever its output", async () => {
    await fc.assert(
      fc.asyncProperty(value, async (result) => {
        const turn: Turn = new Turn(tool("any", "", {}, () => result));
        await turn.returning();
        const restored = Turn.fromJSON(throughText(turn), { tools: [turn.tool, give] });
        expect(restored.output).toEqual(result);
        expect(restored).toMatchObject({ stopReason: "completed", hasReturned: true, attempts: 1 });
        expect(restored.toJSON()).toEqual(turn.toJSON());
      }),
    );
  });

  test("that streams comes back with its values or its result, and knows which it was", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 4 }), value, async (values, result) => {
        const stream = tool("stream", "", {}, async function* () {
          yield* values;
          return result;
        });
        const turn: Turn = new Turn(stream);
        await Array.fromAsync(turn.yielding());
        const restored = Turn.fromJSON(throughText(turn), { tools: [stream, give] });
        expect(restored.output).toEqual(result === undefined ? values : result);
        expect(restored.hasReturned).toBe(result !== undefined);
      }),
    );
  });
});

describe("what a saved turn may not be", () => {
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const scope = { tools: [add], path: "agent.queue[2]" };

  test.each([
    ["an input that is a list", { input: [1] }, "agent.queue[2].input: expected an object"],
    ["metadata that is text", { metadata: "x" }, "agent.queue[2].metadata: expected an object"],
    ["a time limit below 0", { timeoutMs: -5 }, "agent.queue[2].timeoutMs: expected a number above 0"],
    ["an unknown source", { source: "robot" }, 'agent.queue[2].source: expected "code" or "model"'],
    ["half an attempt", { attempts: -1.5 }, "agent.queue[2].attempts: expected a whole number from 0"],
  ])("%s, and the error has the path", (_what, data, message) => {
    const read = () => Turn.fromJSON({ toolName: "add", ...data }, scope);
    expect(read).toThrow(InvalidJsonError);
    expect(read).toThrow(message);
  });

  test("a missing time limit is the tool's, and null is none", () => {
    expect(Turn.fromJSON({ toolName: "add", timeoutMs: undefined }, scope).timeoutMs).toBe(60_000);
    expect(Turn.fromJSON({ toolName: "add", timeoutMs: null }, scope).timeoutMs).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  test("a scope with a misspelt key", () => {
    expect(() => Turn.fromJSON({ toolName: "add" }, { tool: [add] } as never)).toThrow("options.tool");
  });

  test("a turn that contains itself", () => {
    const turn = new Turn(add, { a: 1, b: 2 });
    turn.metadata["self"] = turn;
    expect(() => turn.toJSON()).toThrow("it contains itself");
    turn.metadata = {};
    expect(() => turn.toJSON()).not.toThrow();
  });

  test("a turn inside that cannot be saved: the path leads to it", () => {
    const turn = new Turn(add, { a: 1, b: 2 }, { metadata: {} });
    turn.metadata["inner"] = new Turn(add, { a: () => 1, b: 2 });
    expect(() => turn.toJSON()).toThrow("Cannot save metadata.inner.input.a");
  });
});
