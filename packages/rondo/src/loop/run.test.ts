import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { LoopEvent } from "./events.ts";
import type { LoopOptions } from "./options.ts";
import { run } from "./run.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("broken");
});
const prompt: Message[] = [{ role: "user", content: "What is 1 + 2?" }];
const callAdd = { name: "add", input: { a: 1, b: 2 } };

async function eventsOf(messages: Message[], options: LoopOptions): Promise<LoopEvent[]> {
  const events: LoopEvent[] = [];
  for await (const event of run(messages, options)) events.push(event);
  return events;
}

const types = (events: readonly LoopEvent[]) => events.map(({ type }) => type);
const last = (events: readonly LoopEvent[]) => events.at(-1);

describe("a run", () => {
  test("asks, runs the tools, asks again, and tells everything in order", async () => {
    using model = scriptedModel([
      {
        thinking: "Hm.",
        text: "Let me see.",
        calls: [callAdd],
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      },
      { text: ["It is ", "3."], usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 } },
    ]);
    const messages = [...prompt];
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      onMessage: (message) => messages.push(message),
    });
    expect(types(events)).toEqual([
      "model.started",
      "thinking.delta",
      "text.delta",
      "call.started",
      "call.delta",
      "call.ready",
      "model.finished",
      "tool.started",
      "tool.finished",
      "model.started",
      "text.delta",
      "text.delta",
      "model.finished",
      "run.finished",
    ]);
    expect(last(events)).toEqual({
      type: "run.finished",
      reason: "completed",
      usage: { inputTokens: 11, outputTokens: 22, totalTokens: 33 },
    });
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "Let me see.",
        reasoning: "Hm.",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", name: "add", content: "3" },
      { role: "assistant", content: "It is 3." },
    ]);
    expect(model.requests[1]?.messages).toEqual(messages.slice(0, 3));
    expect(model.requests[0]?.tools).toEqual([add.toOpenAI()]);
  });

  test("does not change the conversation that it was given", async () => {
    using model = scriptedModel(["Hello."]);
    const messages = [...prompt];
    await eventsOf(messages, { model });
    expect(messages).toEqual(prompt);
    expect(model.requests[0]).not.toHaveProperty("tools");
  });

  test("answers calls first that the conversation ends in", async () => {
    using model = scriptedModel(["It is 3."]);
    const open: Message = {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "one", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } },
        { id: "two", type: "function", function: { name: "add", arguments: '{"a":2,"b":2}' } },
      ],
    };
    const answered: Message = { role: "tool", tool_call_id: "two", content: "4" };
    const events = await eventsOf([...prompt, open, answered], { model, tools: [add] });
    expect(types(events).slice(0, 3)).toEqual(["call.ready", "tool.started", "tool.finished"]);
    expect(model.requests[0]?.messages.slice(-2)).toMatchObject([
      { tool_call_id: "two" },
      { tool_call_id: "one", content: "3" },
    ]);
  });

  test("stops at the length limit, and says so", async () => {
    using model = scriptedModel([{ text: "It is", finishReason: "length" }]);
    expect(last(await eventsOf(prompt, { model }))).toMatchObject({ reason: "length", usage: undefined });
  });

  test("passes an error of the model on", async () => {
    using model = scriptedModel([{ error: new Error("no server") }]);
    await expect(eventsOf(prompt, { model })).rejects.toThrow("no server");
  });

  test("keeps what was said before the stream has failed, without its calls", async () => {
    using model = scriptedModel([{ text: "It is", calls: [callAdd], error: new Error("dropped") }]);
    const messages: Message[] = [];
    const failed = eventsOf(prompt, { model, tools: [add], onMessage: (message) => messages.push(message) });
    await expect(failed).rejects.toThrow("dropped");
    expect(messages).toEqual([{ role: "assistant", content: "It is" }]);
  });
});

describe("calls of one answer", () => {
  test("run at the same time, and are answered in their order", async () => {
    const order: string[] = [];
    const gates = new Map([1, 2, 3].map((n) => [n, Promise.withResolvers<void>()]));
    const wait = tool("wait", "Waits.", { n: Number }, async ({ n }) => {
      order.push(`start ${n}`);
      await gates.get(n)?.promise;
      order.push(`end ${n}`);
      return n;
    });
    using model = scriptedModel([{ calls: [1, 2, 3].map((n) => ({ name: "wait", input: { n } })) }, "Done."]);
    const finished: string[] = [];
    const done = (async () => {
      for await (const event of run(prompt, { model, tools: [wait] }))
        if (event.type === "tool.finished") finished.push(event.message.content);
    })();
    await expect.poll(() => order).toEqual(["start 1", "start 2", "start 3"]);
    for (const n of [3, 2, 1]) gates.get(n)?.resolve();
    await done;
    expect(order.slice(3)).toEqual(["end 3", "end 2", "end 1"]);
    expect(finished).toEqual(["1", "2", "3"]);
  });

  test("run one after the other where they must", async () => {
    const order: string[] = [];
    const step = tool("step", "Steps.", { n: Number }, async ({ n }) => {
      order.push(`start ${n}`);
      await Promise.resolve();
      order.push(`end ${n}`);
    });
    using model = scriptedModel([{ calls: [1, 2].map((n) => ({ name: "step", input: { n } })) }, "Done."]);
    await eventsOf(prompt, { model, tools: [step], parallelToolCalls: false });
    expect(order).toEqual(["start 1", "end 1", "start 2", "end 2"]);
  });

  test("start only when tool.started was taken", async () => {
    let hasRun = false;
    const note = tool("note", "Notes.", {}, () => {
      hasRun = true;
    });
    using model = scriptedModel([{ calls: [{ name: "note" }] }, "Done."]);
    const events = run(prompt, { model, tools: [note] });
    for (let step = await events.next(); step.value?.type !== "tool.started"; step = await events.next());
    expect(hasRun).toBe(false);
    await events.next();
    expect(hasRun).toBe(true);
    for await (const _ of events);
  });

  test("stream their progress, and answer with their result", async () => {
    const build = tool("build", "Builds.", {}, async function* () {
      yield "50%";
      yield "100%";
      return { built: true };
    });
    using model = scriptedModel([{ calls: [{ name: "build" }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [build] });
    expect(events.filter(({ type }) => type.startsWith("tool."))).toMatchObject([
      { type: "tool.started" },
      { type: "tool.progress", value: "50%" },
      { type: "tool.progress", value: "100%" },
      { type: "tool.finished", result: { built: true }, message: { content: '{"built":true}' } },
    ]);
  });

  test("do not run ahead of who takes their progress", async () => {
    let produced = 0;
    const count = tool("count", "Counts.", {}, async function* () {
      for (let n = 1; n <= 100; n += 1) {
        produced = n;
        yield n;
      }
    });
    using model = scriptedModel([{ calls: [{ name: "count" }] }, "Done."]);
    let ahead = 0;
    for await (const event of run(prompt, { model, tools: [count] })) {
      if (event.type !== "tool.progress") continue;
      await new Promise((resolve) => setImmediate(resolve));
      ahead = Math.max(ahead, produced - (event.value as number));
    }
    expect([produced, ahead]).toEqual([100, 0]);
  });

  test("that fail are answered with the error, and the run goes on", async () => {
    using model = scriptedModel([{ calls: [{ name: "fail" }, callAdd] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [add, fail] });
    expect(events.filter(({ type }) => type === "tool.finished")).toMatchObject([
      {
        isError: true,
        result: { error: "broken", tool: "fail" },
        message: { content: '{"error":"broken","tool":"fail"}' },
      },
      { isError: false, result: 3 },
    ]);
  });

  test("of subtools go by the name that models see", async () => {
    const users = tool("users", "Users.", {}, () => "users");
    users.subtool(
      { name: "create", description: "Create.", input: { name: String } },
      async ({ name }) => `made ${name}`,
    );
    using model = scriptedModel([{ calls: [{ name: "users__create", input: { name: "Ada" } }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [users] });
    expect(events).toContainEqual(expect.objectContaining({ type: "call.ready", name: "users.create" }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool.finished", result: "made Ada" }));
    expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(["users", "users__create"]);
  });
});

describe("a result is told to the model", () => {
  const cyclic: Record<string, unknown> = { name: "x" };
  cyclic["self"] = cyclic;
  cyclic["list"] = [1, 2n];

  test.each([
    ["text as it is", "plain", "plain"],
    ["a number as JSON", 0, "0"],
    ["null as JSON", null, "null"],
    ["nothing as null", undefined, "null"],
    ["a list as JSON", [1, "a"], '[1,"a"]'],
    [
      "MCP's text blocks as their text",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    ["a bigint as text", 10n, '"10"'],
    ["a cycle as far as it goes", cyclic, '{"name":"x","self":"(itself)","list":[1,"2"]}'],
  ])("%s", async (_how, value, content) => {
    const give = tool("give", "Gives.", {}, () => value as unknown);
    using model = scriptedModel([{ calls: [{ name: "give" }] }, "Done."]);
    const events = await eventsOf(prompt, { model, tools: [give] });
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tool.finished",
        isError: false,
        message: expect.objectContaining({ content }),
      }),
    );
  });

  test("as an error, if it is MCP's and says so", async () => {
    const give = tool("give", "Gives.", {}, () => ({
      content: [{ type: "text", text: "no such file" }],
      isError: true,
    }));
    using model = scriptedModel([{ calls: [{ name: "give" }] }, "Done."]);
    expect(await eventsOf(prompt, { model, tools: [give] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", isError: true }),
    );
  });
});

describe("a call is rejected, and answered with why", () => {
  const rejected = async (call: object, options: Partial<LoopOptions> = {}) => {
    using model = scriptedModel([{ calls: [{ name: "add", ...call }] }, "Sorry."]);
    const messages = [...prompt];
    const events = await eventsOf(prompt, {
      model,
      tools: [add, fail],
      onMessage: (message) => messages.push(message),
      ...options,
    });
    expect(flawsOf(messages)).toEqual([]);
    const event = events.find(({ type }) => type === "call.rejected");
    expect(messages[2]?.content).toContain(JSON.stringify((event as { error: string }).error).slice(1, -1));
    return event;
  };

  test("when there is no such tool: the list of tools is told", async () => {
    expect(await rejected({ name: "subtract", input: {} })).toMatchObject({
      reason: "unknown",
      error: "Tool 'subtract' not found in registry. The tools are: add, fail.",
    });
  });

  test("when the tool is not allowed, and it was not offered", async () => {
    expect(await rejected({ name: "fail" }, { isAllowed: (it) => it === add })).toMatchObject({
      reason: "not_allowed",
    });
  });

  test("when the input does not fit: the path and what was expected", async () => {
    expect(await rejected({ input: { a: 1 } })).toMatchObject({
      reason: "invalid",
      error: expect.stringContaining("b: expected number, got nothing"),
    });
  });

  test("when the arguments are no JSON: quoted", async () => {
    expect(await rejected({ arguments: "one and two" })).toMatchObject({
      reason: "invalid",
      raw: "one and two",
      error: expect.stringContaining("Invalid JSON"),
    });
  });

  test("when the arguments were cut off: never run as a guess", async () => {
    expect(await rejected({ arguments: '{"a":1,"b":2', isTruncated: true })).toMatchObject({
      reason: "truncated",
    });
  });

  test("when it is not approved", async () => {
    const canUseTool = async () => ({ continue: false, reason: "ask me first" });
    expect(await rejected(callAdd, { canUseTool })).toMatchObject({
      reason: "denied",
      error: "Tool use denied: ask me first",
    });
  });

  test("when a hook blocks it", async () => {
    const beforeCall = async () => ({ continue: false, reason: "too risky" });
    expect(await rejected(callAdd, { beforeCall })).toMatchObject({
      reason: "blocked",
      error: "Tool use blocked: too risky",
    });
  });

  test("when a modified input does not fit", async () => {
    const beforeCall = async () => ({ modifiedInput: { a: 1 } });
    expect(await rejected(callAdd, { beforeCall })).toMatchObject({ reason: "invalid" });
  });
});

test("a rejected call keeps its arguments in the conversation, if they can be read", async () => {
  using model = scriptedModel([{ calls: [callAdd, { name: "add", arguments: "one and two" }] }, "Sorry."]);
  const messages: Message[] = [];
  await eventsOf(prompt, {
    model,
    tools: [add],
    beforeCall: async () => ({ continue: false }),
    onMessage: (message) => messages.push(message),
  });
  expect(messages[0]).toMatchObject({
    tool_calls: [{ function: { arguments: '{"a":1,"b":2}' } }, { function: { arguments: "{}" } }],
  });
});

describe("checks of a call", () => {
  test("come in the order valid, canUseTool, beforeCall; each sees what the one before has changed", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Done."]);
    const seen: unknown[] = [];
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      canUseTool: async ({ input }) => {
        seen.push(["canUseTool", input]);
        return { modifiedInput: { a: 10, b: 20 } };
      },
      beforeCall: async ({ input, name, id }) => {
        seen.push(["beforeCall", input, name, id]);
        return { modifiedInput: { ...input, b: 32 } };
      },
    });
    expect(seen).toEqual([
      ["canUseTool", { a: 1, b: 2 }],
      ["beforeCall", { a: 10, b: 20 }, "add", "call_1"],
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: "call.ready", input: { a: 10, b: 32 } }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool.finished", result: 42 }));
  });

  test("that throw end the run", async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }]);
    const messages: Message[] = [];
    const beforeCall = async () => {
      throw new Error("hook failed");
    };
    const options = {
      model,
      tools: [add],
      beforeCall,
      onMessage: (message: Message) => void messages.push(message),
    };
    await expect(eventsOf(prompt, options)).rejects.toThrow("hook failed");
    expect(flawsOf(messages)).toEqual([]);
  });

  test("find a name that is written a little differently", async () => {
    using model = scriptedModel([{ calls: [{ ...callAdd, name: "functions.Add" }] }, "Done."]);
    expect(await eventsOf(prompt, { model, tools: [add] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", result: 3 }),
    );
  });

  test("mend arguments whose meaning is beyond doubt", async () => {
    using model = scriptedModel([
      { calls: [{ name: "add", arguments: "```json\n{'a': 1, 'b': \"2\",}\n```" }] },
      "Done.",
    ]);
    expect(await eventsOf(prompt, { model, tools: [add] })).toContainEqual(
      expect.objectContaining({ type: "tool.finished", result: 3 }),
    );
  });
});

describe("limits", () => {
  test("of iterations: the calls beyond are not run, but answered", async () => {
    using model = scriptedModel([1, 2, 3].map((a) => ({ calls: [{ name: "add", input: { a, b: 0 } }] })));
    const messages = [...prompt];
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      maxToolIterations: 2,
      onMessage: (message) => messages.push(message),
    });
    expect(types(events).filter((type) => type === "call.ready")).toHaveLength(3);
    expect(types(events).filter((type) => type === "tool.started")).toHaveLength(2);
    expect(last(events)).toMatchObject({ reason: "max_turns" });
    expect(messages.at(-1)?.content).toContain("limit reached");
    expect(flawsOf(messages)).toEqual([]);
  });

  test("of answers in a row without a call that can be run", async () => {
    using model = scriptedModel(Array.from({ length: 4 }, (_, n) => ({ calls: [{ name: `unknown_${n}` }] })));
    const events = await eventsOf(prompt, { model, tools: [add] });
    expect(last(events)).toMatchObject({ reason: "max_turns" });
    expect(types(events)).toContain("warning");
  });

  test("of calls", async () => {
    using model = scriptedModel([{ calls: [callAdd, callAdd] }, { calls: [callAdd] }]);
    const events = await eventsOf(prompt, { model, tools: [add], maxToolCalls: 2 });
    expect(last(events)).toMatchObject({ reason: "max_tool_calls" });
  });

  test("of the same call in a row: it is answered with a hint instead of run", async () => {
    using model = scriptedModel([...Array.from({ length: 4 }, () => ({ calls: [callAdd] })), "Fine."]);
    const events = await eventsOf(prompt, { model, tools: [add] });
    expect(types(events).filter((type) => type === "tool.started")).toHaveLength(3);
    expect(events).toContainEqual(expect.objectContaining({ type: "call.rejected", reason: "repeated" }));
  });

  test("are checked at the call", () => {
    using model = scriptedModel([]);
    expect(() => run(prompt, { model, maxToolIterations: 0 })).toThrow(
      "maxToolIterations: expected a whole number from 1",
    );
  });

  test("two tools that a model would see under one name are refused at the call", () => {
    using model = scriptedModel([]);
    const a = tool("a", "A.", {}, () => 1);
    a.subtool({ name: "b", description: "B." }, async () => 2);
    expect(() => run(prompt, { model, tools: [a, tool("a__b", "Clash.", {}, () => 3)] })).toThrow(
      "Duplicate tool name: a.b and a__b",
    );
  });
});

describe("calls of the client", () => {
  test("end the run without an answer", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const events = await eventsOf(prompt, { model, tools: [add], runsHere: () => false });
    expect(types(events)).not.toContain("tool.started");
    expect(last(events)).toMatchObject({ reason: "client_calls" });
  });

  test("in a mixed answer wait until those that run here are answered", async () => {
    const mine = tool("mine", "The client's.", {}, () => "never");
    using model = scriptedModel([{ calls: [{ name: "mine" }, callAdd] }]);
    const messages: Message[] = [];
    const events = await eventsOf(prompt, {
      model,
      tools: [add, mine],
      runsHere: (it) => it !== mine,
      onMessage: (message) => messages.push(message),
    });
    expect(messages.slice(1)).toMatchObject([{ tool_call_id: "call_2", content: "3" }]);
    expect(last(events)).toMatchObject({ reason: "client_calls" });
  });
});

describe("an abort", () => {
  test("in mid-answer keeps the text, and ends the run with `aborted`", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }]);
    const controller = new AbortController();
    const messages: Message[] = [];
    const events: LoopEvent[] = [];
    for await (const event of run(prompt, {
      model,
      signal: controller.signal,
      onMessage: (it) => messages.push(it),
    })) {
      events.push(event);
      if (event.type === "text.delta") controller.abort(new Error("enough"));
    }
    expect(last(events)).toMatchObject({ type: "run.finished", reason: "aborted" });
    expect(messages).toEqual([{ role: "assistant", content: "Half " }]);
    expect(model.requests[0]?.wasLeft).toBe(true);
  });

  test("while tools run aborts them, and each call is answered", async () => {
    let started = 0;
    const wait = tool("wait", "Waits.", {}, async (_input, { signal }) => {
      started += 1;
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    using model = scriptedModel([{ calls: [{ name: "wait" }, callAdd, { name: "wait" }] }]);
    const controller = new AbortController();
    const messages = [...prompt];
    const done = eventsOf(prompt, {
      model,
      tools: [wait, add],
      signal: controller.signal,
      onMessage: (message) => messages.push(message),
    });
    await expect.poll(() => started).toBe(2);
    controller.abort();
    expect(last(await done)).toMatchObject({ reason: "aborted" });
    expect(flawsOf(messages)).toEqual([]);
    expect(messages.slice(2).map(({ content }) => content)).toEqual([
      '{"error":"cancelled","tool":"wait"}',
      "3",
      '{"error":"cancelled","tool":"wait"}',
    ]);
  });
});

describe("leaving", () => {
  test.each([
    "model.started",
    "text.delta",
    "call.started",
    "call.ready",
    "model.finished",
    "tool.started",
    "tool.progress",
    "tool.finished",
  ])("at %s leaves a valid conversation", async (type) => {
    const slow = tool("slow", "Streams.", {}, async function* (_input, { signal }) {
      yield "begun";
      if (type === "tool.progress")
        await new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
    });
    const model = scriptedModel([{ text: "Text.", calls: [callAdd, { name: "slow" }] }, "Done."]);
    const messages = [...prompt];
    for await (const event of run(prompt, {
      model,
      tools: [add, slow],
      onMessage: (it) => messages.push(it),
    }))
      if (event.type === type) break;
    expect(flawsOf(messages)).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });
});
