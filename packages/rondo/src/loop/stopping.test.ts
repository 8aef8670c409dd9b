import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message, ToolMessage } from "../model/message.ts";
import type { ModelDelta, ModelProvider } from "../model/provider.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { LoopEvent } from "./events.ts";
import { run } from "./run.ts";
import { add, callAdd, eventsOf, last, prompt, types } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

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
    expect(() => run(prompt, { model, maxToolIterations: -1 })).toThrow(
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

test.each([
  ["f", '{"error":"cancelled","tool":"s"}'],
  ["s", "[1,2,3]"],
])(
  "an error of `onMessage` ends a run in which a streaming tool waits for its progress to be taken (%s)",
  async (failing, content) => {
    const ticks = async (count: number) => {
      for (let index = 0; index < count; index += 1) await new Promise(setImmediate);
    };
    let isClosed = false;
    const s = tool("s", "Streams.", {}, async function* () {
      try {
        yield 1;
        await ticks(3);
        yield 2;
        yield 3;
      } finally {
        isClosed = true;
      }
    });
    const f = tool("f", "Is fast.", {}, () => ticks(2));
    using model = scriptedModel([{ calls: [{ name: "f" }, { name: "s" }] }]);
    const results: ToolMessage[] = [];
    const onMessage = (message: Message) => {
      if (message.role === "tool") results.push(message);
      if (message.role === "tool" && message.name === failing) throw new Error("no room");
    };
    await expect(eventsOf(prompt, { model, tools: [s, f], onMessage })).rejects.toThrow("no room");
    expect(isClosed).toBe(true);
    expect(results.find(({ name }) => name === "s")?.content).toBe(content);
  },
);

describe("leaving", () => {
  test("throws an error of the model's cleanup", async () => {
    const { name, endpoint, profile } = scriptedModel([]);
    async function* stream(): AsyncGenerator<ModelDelta, void, void> {
      await using cleanup = new AsyncDisposableStack();
      cleanup.defer(() => Promise.reject(new Error("cleanup broke")));
      yield { type: "text.delta", text: "a" };
      yield { type: "text.delta", text: "b" };
    }
    const model: ModelProvider = { name, endpoint, profile, stream };
    const traced: string[] = [];
    const leaving = async () => {
      for await (const event of run(prompt, { model, onTrace: ({ type }) => traced.push(type) }))
        if (event.type === "text.delta") break;
    };
    await expect(leaving()).rejects.toThrow("cleanup broke");
    expect(traced).toContain("run.failed");
  });

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
