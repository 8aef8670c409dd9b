import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { PendingCall } from "./options.ts";
import { run } from "./run.ts";
import { add, callAdd, eventsOf, last, prompt, types } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

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
      state: {
        version: 1,
        answers: 2,
        rounds: 1,
        callsRun: 1,
        fruitlessAnswers: 0,
        finishReason: "stop",
        usage: { inputTokens: 11, outputTokens: 22, totalTokens: 33 },
      },
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

const leaveValid = ({ rejection }: PendingCall) => (rejection ? undefined : ({ type: "leave" } as const));

describe("calls of the client", () => {
  test("end the run without an answer", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const events = await eventsOf(prompt, { model, tools: [add], decideCall: leaveValid });
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
      decideCall: ({ tool: it }) => (it === mine ? { type: "leave" } : undefined),
      onMessage: (message) => messages.push(message),
    });
    expect(messages.slice(1)).toMatchObject([{ tool_call_id: "call_2", content: "3" }]);
    expect(last(events)).toMatchObject({ reason: "client_calls" });
  });
});

describe("what is forced on the model", () => {
  test.each([["required" as const], [{ name: "add" }]])(
    "holds for the first answer only: %j",
    async (toolChoice) => {
      using model = scriptedModel([{ calls: [callAdd] }, "3."]);
      await eventsOf(prompt, { model, tools: [add], toolChoice });
      expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, "auto"]);
    },
  );
});

describe("at a limit, where a final answer is asked for", () => {
  test("the model answers once more, without calls", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, { calls: [callAdd] }, "About 3."]);
    const events = await eventsOf(prompt, {
      model,
      tools: [add],
      maxToolIterations: 1,
      asksForFinalAnswer: true,
      toolChoice: "auto",
    });
    expect(model.requests.map(({ tools, toolChoice }) => [tools?.length, toolChoice])).toEqual([
      [1, "auto"],
      [1, "auto"],
      [1, "none"],
    ]);
    expect(events.at(-1)).toMatchObject({ type: "run.finished", reason: "completed" });
  });

  test("a model that only calls again is asked a last time, without tools", async () => {
    const script = [{ calls: [callAdd] }, { calls: [callAdd] }, { calls: [callAdd] }];
    using model = scriptedModel([...script, "About 3."]);
    const options = { model, tools: [add], maxToolIterations: 1, asksForFinalAnswer: true };
    const events = await eventsOf(prompt, options);
    expect(model.requests.map(({ tools }) => tools?.length)).toEqual([1, 1, 1, undefined]);
    expect(events.at(-1)).toMatchObject({ type: "run.finished", reason: "completed" });

    using silent = scriptedModel([...script, { calls: [callAdd] }]);
    const last = (await eventsOf(prompt, { ...options, model: silent })).at(-1);
    expect(last).toMatchObject({ type: "run.finished", reason: "completed" });
  });

  test("calls that it makes all the same are not run", async () => {
    let runs = 0;
    const count = tool("count", "Counts.", {}, () => {
      runs += 1;
    });
    const call = { name: "count" };
    using model = scriptedModel([{ calls: [call] }, { calls: [call] }, { text: "Well.", calls: [call] }]);
    const messages = [...prompt];
    await eventsOf(prompt, {
      model,
      tools: [count],
      maxToolIterations: 1,
      asksForFinalAnswer: true,
      onMessage: (message) => messages.push(message),
    });
    expect(runs).toBe(1);
    expect(flawsOf(messages)).toEqual([]);
  });
});

test("where every tool is the client's, the model hears of its mistakes and is asked again", async () => {
  using model = scriptedModel([{ calls: [{ name: "add", input: { a: "x" } }] }, { calls: [callAdd] }]);
  const events = await eventsOf(prompt, { model, tools: [add], decideCall: leaveValid });
  expect(events.at(-1)).toMatchObject({ type: "run.finished", reason: "client_calls" });
  expect(events.filter(({ type }) => type === "call.ready")).toHaveLength(1);
});

test("a rejection can end the run where nothing ran, and does not where something did", async () => {
  const decideCall = ({ rejection }: PendingCall) =>
    rejection && ({ type: "reject", ...rejection, endsRun: true } as const);
  using stops = scriptedModel([{ calls: [{ name: "nowhere" }] }]);
  const stopped = await eventsOf(prompt, { model: stops, tools: [add], decideCall });
  expect(last(stopped)).toMatchObject({ reason: "client_calls" });
  using goesOn = scriptedModel([{ calls: [{ name: "nowhere" }, callAdd] }, "Done."]);
  const completed = await eventsOf(prompt, { model: goesOn, tools: [add], decideCall });
  expect(last(completed)).toMatchObject({ reason: "completed" });
});

test("no call is run where the limit is 0, and each is answered", async () => {
  using model = scriptedModel([{ calls: [callAdd] }]);
  const messages = [...prompt];
  const onMessage = (message: Message) => void messages.push(message);
  const events = await eventsOf(prompt, { model, tools: [add], maxToolIterations: 0, onMessage });
  expect(events.at(-1)).toMatchObject({ reason: "max_turns" });
  expect(flawsOf(messages)).toEqual([]);
});

test("tools run in the async context in which the first event was asked for", async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const look = tool("look", "Looks.", {}, () => void seen.push(storage.getStore()));
  using model = scriptedModel([{ calls: [{ name: "look" }] }, "Done."]);
  const events = run(prompt, { model, tools: [look] });
  await storage.run("first", () => events.next());
  await storage.run("later", async () => {
    for await (const _ of events);
  });
  expect(seen).toEqual(["first"]);
});
