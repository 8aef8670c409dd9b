import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Agent, ContextItem, Registry, SafeExecutionError, setLogger, Turn, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { valuesOf } from "../testkit/values-of.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", input: { a: 25, b: 17 } };

describe("an agent that thinks", () => {
  test("answers ask() with blocks, runs its tools, and gives the result last", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "It is 42."]);
    const agent = new Agent({
      name: "thinker",
      model,
      instructions: "Be brief.",
      tools: [add],
      registry: false,
    });
    await agent.ask("What is 25 + 17?");
    expect(await valuesOf(agent.run())).toEqual([
      { type: "tool_use", id: "call_1", name: "add", input: { a: 25, b: 17 } },
      { type: "tool_result", tool_use_id: "call_1", name: "add", content: 42, is_error: false },
      { type: "text", text: "It is 42." },
      { type: "result", text: "It is 42.", output: undefined, usage: undefined, stopReason: "completed" },
    ]);
    expect(model.requests[0]?.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is 25 + 17?" },
    ]);
  });

  test("fires its turn hooks for each tool call, and reports a failure to the model", async () => {
    const fail = tool("fail", "Fails.", {}, () => {
      throw new Error("broken");
    });
    using model = scriptedModel([{ calls: [{ name: "fail" }] }, "Sorry."]);
    const agent = new Agent({ name: "thinker", model, tools: [fail], registry: false });
    const seen: string[] = [];
    agent.onComplete(async (turn, stopReason) => seen.push(`${turn.tool.name} ${stopReason}`));
    await agent.ask("Go");
    const values = await valuesOf(agent.run());
    expect(seen).toEqual(["fail error", "think completed"]);
    expect(values).toContainEqual(expect.objectContaining({ type: "tool_result", is_error: true }));
  });

  test("routes a turn and a context item that a tool returns, and reports it to the model", async () => {
    const plan = tool("plan", "Plans.", {}, () => new Turn(add, { a: 1, b: 2 }));
    const note = tool("note", "Notes.", {}, () => new ContextItem({ content: "noted" }));
    using model = scriptedModel([{ calls: [{ name: "plan" }, { name: "note" }] }, "Done."]);
    const agent = new Agent({ name: "thinker", model, tools: [add, plan, note], registry: false });
    await agent.ask("Go");
    const values = await valuesOf(agent.run());
    expect(values.at(-1)).toBe(3);
    expect(agent.contextQueue.items.map(({ content }) => content)).toEqual(["noted", "User: Go\nYou: Done."]);
    expect(model.requests[1]?.messages.slice(-2).map(({ content }) => content)).toEqual(["queued", "noted"]);
  });

  test("describes its context to the model, by default or with describeContext", async () => {
    using model = scriptedModel(["One.", "Two.", "Three."]);
    const agent = new Agent({ name: "thinker", model, tools: [], registry: false });
    await agent.contextPool.add(
      new ContextItem({ content: "Blue.", id: "colour", description: "The colour" }),
    );
    await agent.ask("First");
    await agent.ask("Second");
    await valuesOf(agent.run());
    expect(model.requests[1]?.messages[0]?.content).toBe(
      "What happened before:\nUser: First\nYou: One.\n\nWhat you know:\n[colour] The colour\nBlue.",
    );
    const other = new Agent({
      name: "other",
      model,
      instructions: "Be brief.",
      describeContext: ({ name }) => `You are ${name}.`,
      tools: [],
      registry: false,
    });
    await other.ask("Third");
    await valuesOf(other.run());
    expect(model.requests[2]?.messages[0]?.content).toBe("Be brief.\n\nYou are other.");
  });

  test("can be left in mid-answer: the stream closes and the agent is free", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half", gate.promise] }, "Whole."]);
    const agent = new Agent({ name: "thinker", model, tools: [], registry: false });
    await agent.ask("Go");
    for await (const _ of agent.run()) break;
    expect(model.requests[0]?.wasLeft).toBe(true);
    await agent.ask("Again");
    expect((await valuesOf(agent.run())).at(-1)).toMatchObject({ text: "Whole." });
  });

  test("is saved with its question, and restored with a model", async () => {
    using model = scriptedModel(["Hello."]);
    const agent = new Agent({
      name: "thinker",
      model,
      instructions: "Be brief.",
      tools: [add],
      registry: false,
    });
    await agent.ask("Hi");
    const json = JSON.parse(JSON.stringify(agent)) as unknown;
    const restored = Agent.fromJSON(json, { tools: [add], model, registry: new Registry() });
    expect((await valuesOf(restored.run())).at(-1)).toMatchObject({ text: "Hello." });
    expect(model.requests[0]?.messages[0]).toEqual({ role: "system", content: "Be brief." });
  });

  test("branches with its model and its questions", async () => {
    using model = scriptedModel(["One.", "Two."]);
    const agent = new Agent({ name: "thinker", model, tools: [], registry: false });
    await agent.ask("Go");
    expect((await valuesOf(agent.branch("child").run())).at(-1)).toMatchObject({ text: "One." });
    expect((await valuesOf(agent.run())).at(-1)).toMatchObject({ text: "Two." });
  });
});

describe("maxRepeats of an agent", () => {
  const stuck = [
    ...Array.from({ length: 4 }, () => ({ calls: [{ name: "add", input: { a: 1, b: 2 } }] })),
    "So.",
  ];
  const errors = (values: readonly unknown[]) =>
    values.flatMap((value) => {
      const { type } = Object(value) as { type?: string };
      return type === "tool_result" || type === "tool_use_error" ? [type === "tool_use_error"] : [];
    });

  test("limits how often the same call with the same result runs, also in a branch and a restored agent", async () => {
    const options = { name: "thinker", tools: [add], registry: false, maxRepeats: 2 } as const;
    using model = scriptedModel([...stuck, ...stuck, ...stuck]);
    const agent = new Agent({ ...options, model });
    await agent.ask("Go");
    const saved = JSON.parse(JSON.stringify(agent)) as unknown;
    const { maxRepeats, tools } = options;
    const restored = Agent.fromJSON(saved, { tools, maxRepeats, model, registry: new Registry() });
    for (const one of [agent.branch("child"), agent, restored])
      expect(errors(await valuesOf(one.run()))).toEqual([false, false, true, true]);
  });

  test("is checked", () => {
    const make = () => new Agent({ name: "thinker", tools: [], registry: false, maxRepeats: 1.5 });
    expect(make).toThrow("maxRepeats: expected a whole number from 1");
  });
});

test("ask() refuses an invalid prompt, and queues nothing", async () => {
  using model = scriptedModel([]);
  const agent = new Agent({ name: "thinker", model, tools: [], registry: false });
  await expect(agent.ask(["x"] as never)).rejects.toThrow("prompt[0]: expected { type");
  await expect(agent.ask(5 as never)).rejects.toThrow("prompt: expected a string");
  expect(agent.turns).toEqual([]);
});

test("an agent without a model refuses ask()", async () => {
  const agent = new Agent({ name: "worker", tools: [add], registry: false });
  await expect(agent.ask("Hi")).rejects.toThrow(SafeExecutionError);
});
