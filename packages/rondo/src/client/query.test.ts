import { describe, expect, test } from "vitest";
import { tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { type QueryMessage, query } from "./query.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", input: { a: 25, b: 17 } };
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

async function messagesOf(messages: AsyncIterable<QueryMessage>): Promise<QueryMessage[]> {
  const list: QueryMessage[] = [];
  for await (const message of messages) list.push(message);
  return list;
}

describe("query", () => {
  test("yields a fresh message for each piece, and the result last", async () => {
    using model = scriptedModel([{ thinking: "Hm.", text: ["Hel", "lo."], usage }]);
    const options = { model, systemPrompt: "Be brief.", tools: [add] };
    expect(await messagesOf(query({ prompt: "Hi", options }))).toEqual([
      { type: "system", role: "system", subtype: "init", model: "scripted", tools: ["add"] },
      { type: "assistant", role: "assistant", content: [{ type: "thinking", thinking: "Hm." }], text: "" },
      { type: "assistant", role: "assistant", content: [{ type: "text", text: "Hel" }], text: "Hel" },
      { type: "assistant", role: "assistant", content: [{ type: "text", text: "lo." }], text: "lo." },
      { type: "result", text: "Hello.", output: undefined, usage, stopReason: "completed" },
    ]);
    expect(model.requests[0]?.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ]);
  });

  test("does not run tools by default", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const messages = await messagesOf(query({ prompt: "Go", options: { model, tools: [add] } }));
    expect(messages.slice(1)).toMatchObject([
      { content: [{ type: "tool_use", input: { a: 25, b: 17 } }] },
      { type: "result", stopReason: "client_calls" },
    ]);
  });

  test("runs tools with autoExecuteTools, with their results as user messages", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "42."]);
    const messages = await messagesOf(
      query({ prompt: "Go", options: { model, tools: [add], autoExecuteTools: true } }),
    );
    expect(messages.slice(1)).toMatchObject([
      { type: "assistant" },
      { type: "user", role: "user", content: [{ type: "tool_result", content: 42, is_error: false }] },
      { type: "assistant", text: "42." },
      { type: "result", text: "42." },
    ]);
  });

  test("result() gives just the result", async () => {
    using model = scriptedModel(["Hello."]);
    expect(await query({ prompt: "Hi", options: { model } }).result()).toEqual({
      text: "Hello.",
      output: undefined,
      usage: undefined,
      stopReason: "completed",
    });
  });

  test("result() with a schema has an output, or throws", async () => {
    const output = { sum: Number };
    using model = scriptedModel(['{ "sum": 3 }', { calls: [{ name: "add", input: { a: 1, b: 2 } }] }]);
    const { output: read } = await query({ prompt: "Hi", options: { model, output } }).result();
    expect(read.sum).toBe(3);
    const tools = [tool("add", "", { a: Number, b: Number }, ({ a, b }) => a + b)];
    const open = query({ prompt: "Hi", options: { model, output, tools } }).result();
    await expect(open).rejects.toThrow("The run ended with 'client_calls', before there was an output.");
  });

  test("starts nothing before it is iterated, and checks its options at once", () => {
    using model = scriptedModel([]);
    query({ prompt: "Hi", options: { model } });
    expect(() => query({ prompt: "Hi", options: { model, temperature: -1 } })).toThrow("temperature");
    expect(() => query({ prompt: "Hi", options: { model }, tools: [] } as never)).toThrow("query.tools");
  });

  test("passes errors on", async () => {
    using model = scriptedModel([{ error: new Error("no server") }]);
    await expect(query({ prompt: "Hi", options: { model } }).result()).rejects.toThrow("no server");
  });

  test("fires the hooks", async () => {
    using model = scriptedModel(["Fine."]);
    const hooks = { user_prompt_submit: [() => ({ modifiedPrompt: "Changed" })] };
    await query({ prompt: "Hi", options: { model, hooks } }).result();
    expect(model.requests[0]?.messages).toEqual([{ role: "user", content: "Changed" }]);
  });
});

describe("leaving a query", () => {
  test("by break closes the stream", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half", gate.promise] }]);
    for await (const message of query({ prompt: "Hi", options: { model } }))
      if (message.type === "assistant") break;
    expect(model.requests[0]?.wasLeft).toBe(true);
  });

  test("before the server accepts it ends the request", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: "Late.", waitFor: gate.promise }]);
    const asked = query({ prompt: "Hi", options: { model } });
    const pending = asked.next();
    await expect.poll(() => model.requests.length).toBe(1);
    await asked.return();
    expect((await pending).done).toBe(true);
    expect(model.requests[0]?.wasLeft).toBe(true);
  });

  test("by interrupt() ends with the text so far, and the result says `aborted`", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half", gate.promise] }]);
    const asked = query({ prompt: "Hi", options: { model } });
    const seen: unknown[] = [];
    for await (const message of asked) {
      seen.push(message.type === "result" ? message : message.type);
      if (message.type === "assistant") await asked.interrupt();
    }
    expect(seen).toEqual([
      "system",
      "assistant",
      expect.objectContaining({ text: "Half", stopReason: "aborted" }),
    ]);
  });
});
