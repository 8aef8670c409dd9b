import { describe, expect, test } from "vitest";
import { Agent, Client, type Message, query, type TraceEvent, Turn, tool } from "../index.ts";
import { type ScriptedStep, scriptedModel } from "../testing/index.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { traceFlaws } from "../trace/testkit/trace-flaws.ts";
import type { LoopOptions } from "./options.ts";
import { PromptWatch } from "./prompt-watch.ts";
import { run } from "./run.ts";
import { initialState } from "./state.ts";
import { add, callAdd, fail, prompt } from "./testkit/loop-kit.ts";

async function traceOf(
  script: ScriptedStep[],
  { messages = prompt, ...options }: Partial<LoopOptions> & { messages?: Message[] } = {},
): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  using model = scriptedModel(script);
  await Array.fromAsync(
    run(messages, { model, tools: [add, fail], onTrace: (it) => void events.push(it), ...options }),
  );
  return events;
}

const types = (events: readonly TraceEvent[]): string[] => events.map(({ type }) => type);
const checked = (events: readonly TraceEvent[]) => events.filter(({ type }) => type === "call.checked");

test("a round with a tool", async () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const events = await traceOf([
    { calls: [callAdd], usage },
    { text: "3", usage },
  ]);
  expect(traceFlaws(events)).toEqual([]);
  expect(events).toMatchObject([
    { type: "run.started" },
    { type: "model.asked", answer: 0, model: "scripted", messages: 1, tools: 2 },
    { type: "model.started", answer: 0 },
    { type: "model.finished", answer: 0, finishReason: "tool_calls", usage },
    { type: "call.checked", answer: 0, callId: "call_1", name: "add", decision: "run" },
    { type: "turn.started", name: "add", callId: "call_1" },
    { type: "turn.finished", stopReason: "completed" },
    { type: "model.asked", answer: 1, messages: 3 },
    { type: "model.started", answer: 1 },
    { type: "model.finished", answer: 1, finishReason: "stop" },
    { type: "run.finished", reason: "completed", usage: { totalTokens: 30 } },
  ]);
  expect(checked(events)[0]).not.toHaveProperty("doubts");
});

describe("doubts of a call", () => {
  test.each([
    ["nothing", { name: "add", arguments: '{"a":1,"b":2}' }, undefined],
    ["another case", { name: "ADD", arguments: '{"a":1,"b":2}' }, ["loosely matched name"]],
    ["a namespace", { name: "functions.add", arguments: '{"a":1,"b":2}' }, ["loosely matched name"]],
    ["a number as text", { name: "add", arguments: '{"a":"1","b":2}' }, ["converted values"]],
    ["broken JSON", { name: "add", arguments: "{a: 1, b: 2,}" }, ["repaired arguments"]],
    ["no arguments for none", { name: "fail", arguments: "" }, undefined],
  ])("%s", async (_name, call, doubts) => {
    const [event] = checked(await traceOf([{ calls: [call] }, "Done."]));
    expect(event).toMatchObject({ decision: "run", name: call.name === "fail" ? "fail" : "add" });
    expect(event?.type === "call.checked" && event.doubts).toEqual(doubts);
  });

  test("a fixed argument that the model wrote", async () => {
    const own = tool(
      { name: "own", description: "", registry: false, input: { key: String }, fixed: { key: "k" } },
      async () => {},
    );
    const call = { name: "own", input: { key: "mine" } };
    const [event] = checked(await traceOf([{ calls: [call] }, "Done."], { tools: [own] }));
    expect(event).toMatchObject({ decision: "run", doubts: ["dropped fixed arguments"] });
  });

  test("a call that is rejected says why", async () => {
    const calls = [{ name: "nope" }, { name: "add", input: { a: 1 } }];
    const events = checked(await traceOf([{ calls }, "Done."]));
    expect(events).toMatchObject([
      { decision: "reject", reason: "unknown", error: expect.stringContaining("not found") },
      { decision: "reject", reason: "invalid", error: expect.stringContaining("b") },
    ]);
  });
});

test("a run that continues another counts on from its answers", async () => {
  const open: Message[] = [
    ...prompt,
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } }],
    },
  ];
  const events = await traceOf(["3"], { messages: open, state: { ...initialState, answers: 4, rounds: 1 } });
  expect(checked(events)).toMatchObject([{ answer: 3, callId: "c1" }]);
  expect(events).toContainEqual(expect.objectContaining({ type: "model.asked", answer: 4 }));
});

test("an answer that fails, and one that is left", async () => {
  const error = new TypeError("gone");
  const events: TraceEvent[] = [];
  const onTrace = (event: TraceEvent) => void events.push(event);
  const failing = run(prompt, { model: scriptedModel({ text: "Hm", error }), onTrace });
  await expect(Array.fromAsync(failing)).rejects.toBe(error);
  const told = { type: "TypeError", message: "gone" };
  expect(events.slice(-2)).toMatchObject([
    { type: "model.failed", answer: 0, error: told },
    { type: "run.failed", error: told },
  ]);
  events.length = 0;
  for await (const event of run(prompt, { model: scriptedModel({ text: ["a", "b"] }), onTrace }))
    if (event.type === "text.delta") break;
  expect(events.slice(-2)).toMatchObject([
    { type: "model.failed", error: { type: "AbortError" } },
    { type: "run.finished", reason: "aborted" },
  ]);
});

test("a prompt that changed, and one that was cut", async () => {
  const usage = { inputTokens: 500, outputTokens: 1, totalTokens: 501 };
  const model = Object.assign(scriptedModel({ text: "Hi.", usage }, { profile: { contextWindow: 1024 } }), {
    countsPrompts: true,
  });
  const promptWatch = new PromptWatch();
  const events: TraceEvent[] = [];
  for (const content of ["Something else.", "Some words of a story. ".repeat(2_000)])
    await Array.fromAsync(
      run([{ role: "user", content }], { model, promptWatch, onTrace: (event) => void events.push(event) }),
    );
  const message = expect.any(String) as string;
  expect(events.filter(({ type }) => type.startsWith("prompt"))).toMatchObject([
    { type: "prompt.changed", part: "messages", index: 0, message },
    { type: "prompt.cut", reportedTokens: 500, message },
  ]);
});

test("a tracer that throws, or rejects, is reported once and changes nothing", async () => {
  const warnings = collectWarnings();
  let count = 0;
  const onTrace = async () => {
    count += 1;
    throw new Error("no disk");
  };
  const throws = () => {
    count += 1;
    throw new Error("no disk");
  };
  for (const tracer of [onTrace, throws, onTrace, throws]) {
    using model = scriptedModel([{ calls: [callAdd] }, "3"]);
    const options = { model, tools: [add], autoExecuteTools: true, onTrace: tracer };
    expect(await query({ prompt: "1 + 2?", options }).result()).toMatchObject({ text: "3" });
  }
  expect(count).toBe(44);
  expect(warnings).toHaveLength(2);
});

test("a tracer that is none is refused at once", () => {
  const onTrace = "log" as never;
  const model = scriptedModel("Hi.");
  const expected = "onTrace: expected a function, or a tracer";
  expect(() => run(prompt, { model, onTrace })).toThrow(expected);
  expect(() => new Client({ model, onTrace })).toThrow(expected);
  expect(() => new Agent({ name: "a", tools: [], onTrace, registry: false })).toThrow(expected);
});

test("each run of a client has a trace of its own", async () => {
  using model = scriptedModel(["Hi.", "Bye."]);
  const runs: TraceEvent[][] = [];
  const forRun = () => {
    const events: TraceEvent[] = [];
    runs.push(events);
    return { record: (event: TraceEvent) => void events.push(event) };
  };
  const client = new Client({ model, onTrace: { record: () => {}, forRun } });
  for (const words of ["Hello.", "Good bye."]) {
    await client.query(words);
    await Array.fromAsync(client.receiveMessages());
  }
  expect(runs.map(traceFlaws)).toEqual([[], []]);
  expect(runs.map((events) => events.length)).toEqual([5, 5]);
});

test("an agent traces its turns, without a model too, and prompts as a part of its run", async () => {
  const events: TraceEvent[] = [];
  const onTrace = (event: TraceEvent) => void events.push(event);
  const plain = new Agent({ name: "plain", tools: [add], onTrace, registry: false });
  await plain.put(new Turn(add, { a: 1, b: 2 }));
  await Array.fromAsync(plain.run());
  expect(types(events)).toEqual(["run.started", "turn.started", "turn.finished", "run.finished"]);
  expect(events[0]).toMatchObject({ name: "plain" });

  events.length = 0;
  using model = scriptedModel([{ calls: [callAdd] }, "3", "Hi."]);
  const thinks = new Agent({ name: "thinks", tools: [add], model, onTrace, registry: false });
  await thinks.ask("1 + 2?");
  await thinks.ask("Hello.");
  await Array.fromAsync(thinks.branch("copy").run());
  expect(traceFlaws(events)).toEqual([]);
  expect(events[0]).toMatchObject({ name: "copy" });
  expect(types(events).filter((type) => /asked|turn/.test(type))).toEqual([
    "turn.started", // think
    "model.asked",
    "turn.started", // add
    "turn.finished",
    "model.asked",
    "turn.finished",
    "turn.started", // think
    "model.asked",
    "turn.finished",
  ]);
});
