// What a limit lets run, and what the calls beyond it are answered with.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { LoopOptions } from "./options.ts";
import { eventsOf, last, prompt } from "./testkit/loop-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const notRun = (name: string) =>
  JSON.stringify({ error: "limit reached: this call was not run", tool: name });

/** A tool that notes its runs, and its calls. */
function noting() {
  const runs: number[] = [];
  const note = tool("note", "Notes.", { n: Number }, ({ n }) => {
    runs.push(n);
    return `noted ${n}`;
  });
  const call = (n: number | string) => ({ name: "note", input: { n } });
  return { runs, note, call };
}

async function resultsOf(options: LoopOptions) {
  const messages: Message[] = [...prompt];
  const events = await eventsOf(prompt, { ...options, onMessage: (message) => messages.push(message) });
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  return { end: last(events), results, messages };
}

describe("maxToolCalls", () => {
  test.each([true, false])("runs the first calls of a batch, up to it (parallel: %s)", async (parallel) => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [1, 2, 3, 4].map(call) }]);
    const { end, results, messages } = await resultsOf({
      model,
      tools: [note],
      maxToolCalls: 2,
      parallelToolCalls: parallel,
    });
    expect(runs).toEqual([1, 2]);
    expect(results).toEqual(["noted 1", "noted 2", notRun("note"), notRun("note")]);
    expect(end).toMatchObject({ reason: "max_tool_calls" });
    expect(flawsOf(messages)).toEqual([]);
  });

  test("counts over all answers, and only calls that run", async () => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [call("x"), call(1)] }, { calls: [call("y"), call(2), call(3)] }]);
    const { end, results } = await resultsOf({ model, tools: [note], maxToolCalls: 2 });
    expect(runs).toEqual([1, 2]);
    expect(results.at(-1)).toBe(notRun("note"));
    expect(end).toMatchObject({ reason: "max_tool_calls" });
  });

  test("is not reached by a batch that fits exactly", async () => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [1, 2].map(call) }, "Done."]);
    const { end } = await resultsOf({ model, tools: [note], maxToolCalls: 2 });
    expect(runs).toEqual([1, 2]);
    expect(end).toMatchObject({ reason: "completed" });
  });

  test("runs what is permitted before the final answer is asked for", async () => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [1, 2].map(call) }, "As far as I know."]);
    const { end } = await resultsOf({ model, tools: [note], maxToolCalls: 1, asksForFinalAnswer: true });
    expect(runs).toEqual([1]);
    expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
      { content: "noted 1" },
      { content: expect.stringContaining("was not run. Answer now, without another call.") },
    ]);
    expect(end).toMatchObject({ reason: "completed" });
  });
});

describe("an answer with calls of the client too", () => {
  const theirs = tool("theirs", "The client's.", {}, () => "never");

  test("has its other calls run, also in the last round", async () => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [call(1)] }, { calls: [{ name: "theirs" }, call(2)] }]);
    const { end, results } = await resultsOf({
      model,
      tools: [note, theirs],
      decideCall: ({ tool }) => (tool === theirs ? { type: "leave" } : undefined),
      maxToolIterations: 1,
    });
    expect(runs).toEqual([1, 2]);
    expect(results).toEqual(["noted 1", "noted 2"]);
    expect(end).toMatchObject({ reason: "client_calls" });
  });

  test("runs no more of them than maxToolCalls, and the client's do not count", async () => {
    const { runs, note, call } = noting();
    using model = scriptedModel([{ calls: [{ name: "theirs" }, call(1), { name: "theirs" }, call(2)] }]);
    const { end, results } = await resultsOf({
      model,
      tools: [note, theirs],
      decideCall: ({ tool }) => (tool === theirs ? { type: "leave" } : undefined),
      maxToolIterations: 0,
      maxToolCalls: 1,
    });
    expect(runs).toEqual([1]);
    expect(results).toEqual(["noted 1", notRun("note")]);
    expect(end).toMatchObject({ reason: "client_calls" });
  });
});
