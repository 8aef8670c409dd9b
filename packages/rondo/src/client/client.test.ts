import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { estimateTokens } from "../budget.ts";
import { setLogger } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { ask, blocksOf, clientFor, roles } from "./testkit/client-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("a client", () => {
  test("sends system prompt, history and prompt, and streams the answer", async () => {
    using model = scriptedModel([{ thinking: "Hm.", text: ["Hel", "lo."] }, "Bye."]);
    await using client = clientFor(model, { systemPrompt: "Be brief." });
    expect(await ask(client, "Hi")).toEqual([
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "Hel" },
      { type: "text", text: "lo." },
    ]);
    expect(client.history).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello.", reasoning: "Hm." },
    ]);
    await ask(client, "Bye");
    expect(roles(model.requests[1]?.messages ?? [])).toEqual(["system", "user", "assistant", "user"]);
    expect(model.requests[0]?.settings).toEqual({ temperature: 0.7, maxTokens: 4096 });
    expect(model.requests[0]?.tools).toHaveLength(2);
    expect(client.turnMetadata).toEqual({ turnCount: 2, maxTurns: Number.POSITIVE_INFINITY });
  });

  test("sends no system message without a system prompt, and no maxTokens for null", async () => {
    using model = scriptedModel(["Hello."]);
    await ask(clientFor(model, { maxTokens: null }), "Hi");
    expect(model.requests[0]?.messages).toEqual([{ role: "user", content: "Hi" }]);
    expect(model.requests[0]?.settings).toEqual({ temperature: 0.7 });
  });

  test("gives a copy of its history; messageHistory can be replaced", async () => {
    using model = scriptedModel(["Hello.", "Again."]);
    const client = clientFor(model);
    await ask(client, "Hi");
    client.history.pop();
    expect(client.history).toHaveLength(2);
    client.messageHistory = [];
    await ask(client, "Hi again");
    expect(model.requests[1]?.messages).toEqual([{ role: "user", content: "Hi again" }]);
    expect(() => {
      client.messageHistory = [{ role: "robot" }] as never;
    }).toThrow("messageHistory[0]: expected a message whose role is one of system, user, assistant, tool");
  });

  test("counts tokens per run and in total; unreported ones are undefined", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    using model = scriptedModel([{ text: "One.", usage }, { text: "Two." }, { text: "Three.", usage }]);
    const client = clientFor(model);
    expect(client.usage).toBeUndefined();
    await ask(client, "1");
    expect(client.result?.usage).toEqual(usage);
    await ask(client, "2");
    expect(client.result?.usage).toBeUndefined();
    await ask(client, "3");
    expect(client.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
    expect(client.result).toEqual({ text: "Three.", output: undefined, usage, stopReason: "completed" });
  });

  test("calibrates estimates from the usage that the server reports", async () => {
    const usage = { inputTokens: 400, outputTokens: 5, totalTokens: 405 };
    using model = scriptedModel([{ text: "Fine.", usage }]);
    const client = clientFor(model, { tools: [] });
    await ask(client, "word ".repeat(100));
    const plain = estimateTokens(client.history);
    expect(estimateTokens(client.history, { calibration: client.calibration })).toBeGreaterThan(plain);
  });

  test("accepts content parts with images as a prompt", async () => {
    using model = scriptedModel(["A cat."]);
    const client = clientFor(model);
    const parts = [
      { type: "text" as const, text: "What is it?" },
      { type: "image_url" as const, image_url: { url: "https://example.org/cat.png" } },
    ];
    await client.query(parts);
    await blocksOf(client);
    expect(client.history[0]).toEqual({ role: "user", content: parts });
  });
});

test("an invalid prompt is refused, and nothing is sent", async () => {
  using model = scriptedModel([]);
  const client = clientFor(model);
  for (const [prompt, message] of [
    [5, "prompt: expected a string"],
    [[], "prompt: expected at least one content part"],
    [["x"], "prompt[0]: expected { type"],
    [[{ type: "image", url: "x" }], "prompt[0]: expected { type"],
  ] as const)
    await expect(client.query(prompt as never)).rejects.toThrow(message);
});

describe("a request that fails", () => {
  test("throws at query(), changes nothing, and the client can be used again", async () => {
    using model = scriptedModel([{ error: new Error("no server") }, "Hello."]);
    const client = clientFor(model);
    await expect(client.query("Hi")).rejects.toThrow("no server");
    expect(client.history).toEqual([]);
    expect(client.turnMetadata.turnCount).toBe(0);
    await ask(client, "Hi");
    expect(roles(client.history)).toEqual(["user", "assistant"]);
  });

  test("in mid-stream keeps what was received", async () => {
    using model = scriptedModel([{ text: "Half", error: new Error("dropped") }, "Whole."]);
    const client = clientFor(model);
    await client.query("Hi");
    await expect(blocksOf(client)).rejects.toThrow("dropped");
    expect(client.history).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Half" },
    ]);
    await ask(client, "Again");
  });
});

describe("one run at a time", () => {
  test("receiving before any query is refused", () => {
    using model = scriptedModel([]);
    expect(() => clientFor(model).receiveMessages()).toThrow("call query() first");
  });

  test("receiving while query() is not awaited is refused, also after an earlier run", async () => {
    using model = scriptedModel(["One.", "Two."]);
    const client = clientFor(model);
    await ask(client, "1");
    const asking = client.query("2");
    expect(() => client.receiveMessages()).toThrow("call query() first, and await it");
    await asking;
    expect(await blocksOf(client)).toEqual([{ type: "text", text: "Two." }]);
  });

  test("a second query while an answer is under way is refused", async () => {
    using model = scriptedModel([{ text: ["One ", "two."] }]);
    const client = clientFor(model);
    await client.query("Hi");
    await expect(client.query("Hi again")).rejects.toThrow("while an answer is under way");
    await expect(client.query("")).rejects.toThrow("while an answer is under way");
    await blocksOf(client);
  });

  test("a second query while a hook handles the first is refused", async () => {
    using model = scriptedModel(["Fine."]);
    const gate = Promise.withResolvers<void>();
    const client = clientFor(model, { hooks: { user_prompt_submit: [() => gate.promise] } });
    const first = client.query("One");
    await expect(client.query("Two")).rejects.toThrow("while an answer is under way");
    gate.resolve();
    await first;
    expect(await blocksOf(client)).toEqual([{ type: "text", text: "Fine." }]);
    expect(client.history).toHaveLength(2);
  });

  test("maxTurns is enforced: it counts prompts", async () => {
    using model = scriptedModel(["One.", "Two."]);
    const client = clientFor(model, { maxTurns: 2 });
    await ask(client, "1");
    await ask(client, "2");
    await expect(client.query("3")).rejects.toMatchObject({ code: "turns_used_up", maxTurns: 2 });
  });

  test('query("") with an empty history is refused', async () => {
    using model = scriptedModel([]);
    await expect(clientFor(model).query("")).rejects.toThrow("prompt: expected a prompt to begin with");
  });
});
