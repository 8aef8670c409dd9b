import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, Client, InvalidArgumentError, tool } from "../index.ts";
import type { ModelDelta } from "../models.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { demoModel } from "./index.ts";
import { add, ask, clock, echo, multiply, requestOf, search, weather } from "./testkit/ask-demo.ts";

const all = [add, multiply, clock, weather, search, echo];

describe("with tools that run, the demo model", () => {
  test.each<[string, string[][], string]>([
    ["What is 25 + 17?", [["add(25, 17)"]], "25 + 17 is 42."],
    [
      "What is 25 + 17, and what is 3 * 4?",
      [["add(25, 17)", "multiply(3, 4)"]],
      "25 + 17 is 42. 3 * 4 is 12.",
    ],
    ["Add 1 and 2, then multiply by 10", [["add(1, 2)"], ["multiply(3, 10)"]], "1 + 2 is 3. 3 * 10 is 30."],
    ["(1 + 2) * (3 + 4)", [["add(1, 2)", "add(3, 4)"], ["multiply(3, 7)"]], "(1 + 2) * (3 + 4) is 21."],
    ["What is 2 + 2, and what is 2 + 2?", [["add(2, 2)", "add(2, 2)"]], "2 + 2 is 4. 2 + 2 is 4."],
    ["What is 10 / 4, then add 1?", [["add(2.5, 1)"]], "10 / 4 is 2.5. 2.5 + 1 is 3.5."],
    ["What time is it?", [["get_time()"]], "get_time says: 12:30."],
    ["Search the docs for time limits", [["search_docs(time limits)"]], "search_docs says: 2 × time limits."],
    [
      "What is the weather in Paris and Oslo?",
      [["get_weather(Paris)", "get_weather(Oslo)"]],
      "get_weather says: Sun in Paris. get_weather says: Sun in Oslo.",
    ],
    ["Echo hello", [["echo(hello)"]], "echo says: HELLO."],
    ["I like rain.", [], expect.stringContaining("I am the demo model")],
  ])("answers %j", async (prompt, rounds, text) => {
    expect(await ask(prompt, all)).toEqual({ rounds, text });
  });

  test("says which tool failed, and skips the steps that need its result", async () => {
    const broken = tool("add", "Adds.", { a: Number, b: Number }, () => {
      throw new Error("no paper");
    });
    expect(await ask("Add 1 and 2, then multiply by 3", [broken, multiply])).toEqual({
      rounds: [["add(1, 2)"]],
      text: "The tool add has failed: no paper.",
    });
  });

  test("continues a conversation", async () => {
    await using client = new Client({ model: demoModel(), tools: all, autoExecuteTools: true });
    for (const [prompt, text] of [
      ["What is 25 + 17?", "25 + 17 is 42."],
      ["Multiply it by 2", "42 * 2 is 84."],
      ["What is 25 + 17?", "25 + 17 is 42."],
    ] as const) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
      expect(client.result?.text).toBe(text);
    }
    const ids = client.history
      .flatMap((it) => (it.role === "assistant" ? (it.tool_calls ?? []) : []))
      .map(({ id }) => id);
    expect(ids).toEqual(["call_1", "call_2", "call_3"]);
    expect(client.result?.usage?.totalTokens).toBeGreaterThan(0);
  });

  test("answers for an agent", async () => {
    const agent = new Agent({ name: "thinker", model: demoModel(), tools: [add], registry: false });
    await agent.ask("What is 25 + 17?");
    expect((await valuesOf(agent.run())).at(-1)).toMatchObject({ type: "result", text: "25 + 17 is 42." });
  });

  test("gives structured output", async () => {
    const output = z.object({
      sum: z.number().int(),
      unit: z.enum(["eggs", "cups"]),
      note: z.string().optional(),
    });
    await using client = new Client({ model: demoModel(), tools: [add], autoExecuteTools: true, output });
    await client.query("How many cups are 25 + 17 cups?");
    for await (const _ of client.receiveMessages());
    expect(client.result?.output).toEqual({ sum: 42, unit: "cups" });
  });
});

describe("the stream", () => {
  const read = (model = demoModel(), request = requestOf("What is 25 + 17?")): Promise<ModelDelta[]> =>
    Array.fromAsync(model.stream(request));

  test("has a thought, the text in words, and the usage", async () => {
    const deltas = await read();
    expect(deltas.filter(({ type }) => type === "thinking.delta").length).toBeGreaterThan(1);
    expect(deltas.flatMap((delta) => (delta.type === "text.delta" ? [delta.text] : []))).toEqual([
      "25",
      " +",
      " 17",
      " is",
      " 42.",
    ]);
    const usage = { inputTokens: 11, outputTokens: 12, totalTokens: 23, reasoningTokens: 7 };
    expect(deltas.at(-1)).toEqual({ type: "finished", finishReason: "stop", usage });
    expect(await read()).toEqual(deltas);
  });

  test("is the same with delayMs", async () => {
    expect(await read(demoModel({ delayMs: 1 }))).toEqual(await read());
  });

  test("ends at once when it is aborted, and removes its listeners", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const model = demoModel({ delayMs: 1_000_000 });
    const reading = read(model, requestOf("Hello", { signal }));
    controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await expect(read(demoModel(), requestOf("Hello", { signal }))).rejects.toThrow("enough");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("its options", () => {
  test("have defaults", () => {
    expect(demoModel()).toMatchObject({ name: "demo", endpoint: "demo://model" });
    expect(demoModel({ name: "other" }).name).toBe("other");
  });

  test.each([{ delayMs: -1 }, { delay: 1 }])("are checked: %j", (options) => {
    expect(() => demoModel(options as object)).toThrow(InvalidArgumentError);
  });
});
