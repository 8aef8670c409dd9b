import { once } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { CompletionCheckReturnError, TurnTimeoutError } from "../errors.ts";
import { Agent, type AnyTool, ContextItem, hook, Registry, type ToolContext, Turn, tool } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

const forever = () => new Promise<never>(() => {});

/** Notes every hook of a tool with its first argument. */
function noteHooks(tool: AnyTool): [event: string, value: unknown][] {
  const notes: [string, unknown][] = [];
  const note = (event: string) => async (value: unknown) => void notes.push([event, value]);
  tool.beforeInvoke(note("beforeInvoke"));
  tool.onYield(note("onYield"));
  tool.afterInvoke(note("afterInvoke"));
  tool.onError(note("onError"));
  return notes;
}

describe("the function", () => {
  test("gets the validated input, and a context with the turn, its signal and its key", async () => {
    const seen: [unknown, ToolContext][] = [];
    const made = tool("t", "d", { a: Number }, (input, context) => {
      seen.push([input, context]);
    });
    const turn = new Turn(made, { a: 1 }, { callId: "call_1" });
    await turn.returning();
    await turn.returning();
    expect(seen).toEqual([
      [
        { a: 1 },
        { signal: expect.any(AbortSignal), turn, callId: "call_1", idempotencyKey: turn.uuid, attempt: 1 },
      ],
      [{ a: 1 }, expect.objectContaining({ idempotencyKey: turn.uuid, attempt: 2 })],
    ]);
  });

  test("has no agent and no context outside an agent", async () => {
    const keys = await tool("t", "d", {}, (_, context) => Object.keys(context)).execute({});
    expect(keys).toEqual(["signal", "turn", "idempotencyKey", "attempt"]);
  });

  test("has the agent and its context inside an agent", async () => {
    const made = tool("t", "d", {}, (_, { agent, contextQueue, contextPool }) => ({
      agent,
      contextQueue,
      contextPool,
    }));
    const agent = new Agent({ name: "a", tools: [made], registry });
    await agent.put(new Turn(made));
    const { contextQueue, contextPool } = agent;
    const [entry] = await Array.fromAsync(agent.run());
    expect(entry?.[1]).toEqual({ agent, contextQueue, contextPool });
  });

  test("may change its input without changing the turn, or the next run", async () => {
    const made = tool("t", "d", { list: Array }, ({ list }) => list.push("more"));
    const turn = new Turn(made, { list: ["one"] });
    expect(await turn.returning()).toBe(2);
    expect(await turn.returning()).toBe(2);
    expect(turn.input).toEqual({ list: ["one"] });
  });

  test("may return a turn, a context item or anything else: execute() gives it as it is", async () => {
    const turn = new Turn(tool("other", "d", {}, () => 1));
    const item = new ContextItem({ content: "note" });
    for (const value of [turn, item, "text", null, undefined])
      expect(await tool("t", "d", {}, () => value).execute({})).toBe(value);
  });
});

describe("lazy arguments", () => {
  test("are called when the tool runs, each time", async () => {
    let calls = 0;
    const made = tool("t", "d", { n: Number }, ({ n }) => n);
    const turn = new Turn(made, {
      n: async () => {
        calls += 1;
        return calls;
      },
    });
    expect(calls).toBe(0);
    expect(await turn.returning()).toBe(1);
    expect(await turn.returning()).toBe(2);
  });

  test("are validated by their resolved values", async () => {
    const made = tool("t", "d", { n: Number }, ({ n }) => n);
    const turn = new Turn("t", { n: () => "text" }, { registry: registryWith(made) });
    await expect(turn.returning()).rejects.toThrow(`n: expected number, got "text"`);
  });
});

describe("preparing the input", () => {
  test("can be aborted while a lazy value hangs", async () => {
    const controller = new AbortController();
    const made = tool("t", "d", { n: Number }, ({ n }) => n);
    const notes = noteHooks(made);
    const turn = new Turn(made, { n: forever });
    const running = turn.returning({ signal: controller.signal });
    await nextTick();
    controller.abort("enough");
    await expect(running).rejects.toBe("enough");
    expect(turn.stopReason).toBe("cancelled");
    expect(notes).toEqual([]);
  });

  test("can be aborted while a check hangs, and no hook hears of a stream that has not begun", async () => {
    const controller = new AbortController();
    const made = tool("t", "d", { n: z.number().refine(forever) }, async function* ({ n }) {
      yield n;
    });
    const notes = noteHooks(made);
    const turn = new Turn(made, { n: 1 });
    const pending = turn.yielding({ signal: controller.signal }).next();
    await nextTick();
    controller.abort("enough");
    await expect(pending).rejects.toBe("enough");
    expect(turn.stopReason).toBe("cancelled");
    expect(notes).toEqual([]);
  });
});

describe("the hooks of a call", () => {
  test("receive the input and the result of the function", async () => {
    const made = tool(
      {
        name: "t",
        description: "d",
        input: { a: Number, b: { type: "number", default: 2 }, c: Number },
        fixed: { c: 3 },
        registry,
      },
      async ({ a, b, c }) => a + b + c,
    );
    const notes = noteHooks(made);
    await made.execute({ a: 1, extra: true } as { a: number });
    expect(notes).toEqual([
      ["beforeInvoke", { a: 1, b: 2, c: 3 }],
      ["afterInvoke", 6],
    ]);
  });

  test("get each value of a stream and then the list of them", async () => {
    const made = tool("t", "d", {}, async function* () {
      yield* [1, null, undefined];
    });
    const notes = noteHooks(made);
    await Array.fromAsync(made.execute({}));
    expect(notes).toEqual([
      ["beforeInvoke", {}],
      ["onYield", 1],
      ["onYield", null],
      ["onYield", undefined],
      ["afterInvoke", [1, null, undefined]],
    ]);
  });

  test("get the result of a stream that returns one", async () => {
    const made = tool("t", "d", {}, async function* () {
      yield 1;
      return "result";
    });
    const notes = noteHooks(made);
    await Array.fromAsync(made.execute({}));
    expect(notes.at(-1)).toEqual(["afterInvoke", "result"]);
  });

  test("get the empty list of a stream without values", async () => {
    const made = tool("t", "d", {}, async function* () {
      yield* [] as number[];
    });
    const notes = noteHooks(made);
    await Array.fromAsync(made.execute({}));
    expect(notes).toEqual([
      ["beforeInvoke", {}],
      ["afterInvoke", []],
    ]);
  });

  test("get the values so far when a stream is left", async () => {
    const made = tool("t", "d", {}, async function* () {
      yield* [10, 20, 30];
    });
    const notes = noteHooks(made);
    for await (const value of made.execute({})) if (value === 10) break;
    expect(notes.filter(([event]) => event === "afterInvoke")).toEqual([["afterInvoke", [10]]]);
  });

  test("get the error of a function that throws, and no result", async () => {
    const error = new Error("no");
    const made = tool("t", "d", {}, () => {
      throw error;
    });
    const notes = noteHooks(made);
    await expect(made.execute({})).rejects.toBe(error);
    expect(notes).toEqual([
      ["beforeInvoke", {}],
      ["onError", error],
    ]);
  });

  test("get the error of a stream that throws on the way, and no list", async () => {
    const error = new Error("no");
    const made = tool("t", "d", {}, async function* () {
      yield 1;
      throw error;
    });
    const notes = noteHooks(made);
    await expect(Array.fromAsync(made.execute({}))).rejects.toBe(error);
    expect(notes.slice(1)).toEqual([
      ["onYield", 1],
      ["onError", error],
    ]);
  });

  test("are not called for invalid input", async () => {
    const made = tool("t", "d", { a: Number }, () => 1);
    const notes = noteHooks(made);
    await expect(made.execute({} as never)).rejects.toThrow(TypeError);
    expect(notes).toEqual([]);
  });

  test("get a context with the tool, the turn and the signal, whatever they call their parameters", async () => {
    const made = tool("t", "d", {}, () => "result");
    const seen: unknown[] = [];
    made.afterInvoke(async (whatever, { tool, turn, signal }) => {
      seen.push(whatever, tool, turn, signal.aborted);
    });
    const turn = new Turn(made);
    await turn.returning();
    expect(seen).toEqual(["result", made, turn, false]);
  });

  test("of one tool do not fire for another", async () => {
    const notes = noteHooks(tool("watched", "d", {}, () => 1));
    await tool("other", "d", {}, () => 2).execute({});
    expect(notes).toEqual([]);
  });

  test("one function on two tools fires for both", async () => {
    const tools = ["one", "two"].map((name) => tool(name, "d", {}, () => name));
    const seen: unknown[] = [];
    const note = async (result: unknown) => void seen.push(result);
    for (const made of tools) made.afterInvoke(note);
    for (const made of tools) await made.execute({});
    expect(seen).toEqual(["one", "two"]);
  });

  test("beforeInvoke can stop the call by throwing", async () => {
    let calls = 0;
    const made = tool("t", "d", {}, () => {
      calls += 1;
    });
    const notes = noteHooks(made);
    made.beforeInvoke(async () => {
      throw new Error("not allowed");
    });
    await expect(made.execute({})).rejects.toThrow("not allowed");
    expect(calls).toBe(0);
    expect(notes.map(([event]) => event)).toEqual(["beforeInvoke"]);
  });

  test("onYield can end a stream by throwing; the generator is closed", async () => {
    let isClosed = false;
    const made = tool("t", "d", {}, async function* () {
      try {
        yield* [1, 2];
      } finally {
        isClosed = true;
      }
    });
    const notes = noteHooks(made);
    made.onYield(async () => {
      throw new Error("too much");
    });
    await expect(Array.fromAsync(made.execute({}))).rejects.toThrow("too much");
    expect(isClosed).toBe(true);
    expect(notes.map(([event]) => event)).toEqual(["beforeInvoke", "onYield"]);
  });

  test("afterInvoke that throws fails the call, without calling onError", async () => {
    const made = tool("t", "d", {}, () => 1);
    const notes = noteHooks(made);
    made.afterInvoke(async () => {
      throw new Error("bad result");
    });
    await expect(made.execute({})).rejects.toThrow("bad result");
    expect(notes.map(([event]) => event)).toEqual(["beforeInvoke", "afterInvoke"]);
  });

  test("global ones of the tool's registry fire after its own", async () => {
    const made = tool({ name: "t", description: "d", registry }, async () => 1);
    const order: string[] = [];
    hook("tool.beforeInvoke", async () => void order.push("global"), { registry });
    made.beforeInvoke(async () => void order.push("own"));
    await made.execute();
    expect(order).toEqual(["own", "global"]);
  });
});

describe("a completion check", () => {
  test.each([1, "true", null, undefined, {}])(
    "that returns %o fails with a CompletionCheckReturnError",
    async (value) => {
      const made = tool(
        { name: "done", description: "d", type: "completion_check", registry },
        async () => value as boolean,
      );
      const notes = noteHooks(made);
      const error = await made.execute().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(CompletionCheckReturnError);
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ toolName: "done", received: value });
      expect(notes.map(([event]) => event)).toEqual(["beforeInvoke", "onError"]);
    },
  );

  test.each([true, false])("may return %s", async (value) => {
    const made = tool(
      { name: "done", description: "d", type: "completion_check", registry },
      async () => value,
    );
    expect(await made.execute()).toBe(value);
  });
});

describe("a tool that is stopped", () => {
  test("by its time limit: the error names the tool, and onError is silent", async () => {
    collectWarnings();
    const made = tool({ name: "slow", description: "d", timeoutMs: 1, registry }, async () => forever());
    const notes = noteHooks(made);
    await expect(made.execute(undefined, { graceMs: 0 })).rejects.toThrow(
      "The tool 'slow' ran for more than its 1 ms",
    );
    expect(notes.map(([event]) => event)).toEqual(["beforeInvoke"]);
  });

  test("by an abort: the reason is thrown, and onError is silent", async () => {
    const controller = new AbortController();
    const made = tool("t", "d", {}, async (_, { signal }) => {
      controller.abort("enough");
      signal.throwIfAborted();
    });
    const notes = noteHooks(made);
    await expect(made.execute({}, { signal: controller.signal })).rejects.toBe("enough");
    expect(notes.map(([event]) => event)).toEqual(["beforeInvoke"]);
  });

  test("before it has begun: it does not begin", async () => {
    let calls = 0;
    const made = tool("t", "d", {}, () => {
      calls += 1;
    });
    await expect(made.execute({}, { signal: AbortSignal.abort("before") })).rejects.toBe("before");
    expect(calls).toBe(0);
  });

  test("during its beforeInvoke hook: it does not begin", async () => {
    let calls = 0;
    const controller = new AbortController();
    const made = tool("t", "d", {}, () => {
      calls += 1;
    });
    made.beforeInvoke(async () => controller.abort("enough"));
    await expect(made.execute({}, { signal: controller.signal })).rejects.toBe("enough");
    expect(calls).toBe(0);
  });

  test("is waited for while it cleans up", async () => {
    const order: string[] = [];
    const made = tool({ name: "t", description: "d", timeoutMs: 1, registry }, async (_, { signal }) => {
      await once(signal, "abort");
      await nextTick();
      order.push("clean");
    });
    await expect(made.execute()).rejects.toThrow(TurnTimeoutError);
    order.push("rejected");
    expect(order).toEqual(["clean", "rejected"]);
  });

  test("and fails while it cleans up: that is only worth a warning", async () => {
    const warnings = collectWarnings();
    const made = tool({ name: "messy", description: "d", timeoutMs: 1, registry }, async (_, { signal }) => {
      await once(signal, "abort");
      throw new Error("disk full");
    });
    await expect(made.execute()).rejects.toThrow(TurnTimeoutError);
    expect(warnings).toEqual(["The tool 'messy' failed while it was stopping."]);
  });

  test("and answers with the abort itself: that is not even worth a warning", async () => {
    const warnings = collectWarnings();
    const made = tool({ name: "tidy", description: "d", timeoutMs: 1, registry }, async (_, { signal }) => {
      await once(signal, "abort");
      signal.throwIfAborted();
    });
    await expect(made.execute()).rejects.toThrow(TurnTimeoutError);
    expect(warnings).toEqual([]);
  });

  test("stream or not, a TimeoutError of its own is an error like any other", async () => {
    const own = new DOMException("the server is slow", "TimeoutError");
    const single = tool("single", "d", {}, () => {
      throw own;
    });
    const stream = tool("stream", "d", {}, async function* () {
      yield 1;
      throw own;
    });
    const notes = [noteHooks(single), noteHooks(stream)];
    await expect(single.execute({})).rejects.toBe(own);
    await expect(Array.fromAsync(stream.execute({}))).rejects.toBe(own);
    for (const list of notes) expect(list.at(-1)).toEqual(["onError", own]);
  });
});

function registryWith(made: AnyTool): Registry {
  registry.tools.register(made);
  return registry;
}
