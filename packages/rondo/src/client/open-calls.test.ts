// Who answers an open call: the user, in manual mode, or the client; never both.

import { describe, expect, test } from "vitest";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/index.ts";
import type { Block } from "./blocks.ts";
import { Client } from "./client.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", id: "add_1", input: { a: 1, b: 2 } };
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const answersByTool = { profile: { outputMode: "tool" } } as const;
const finalAnswer = (input: unknown, id?: string) => ({ name: "final_answer", input, ...(id && { id }) });

/** The results in a history, by the ids of their calls. */
const answered = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : [])).toSorted();

async function blocksOf(client: Client): Promise<Block[]> {
  return Array.fromAsync(client.receiveMessages());
}

describe("a call that the client answers", () => {
  test("accepts no result from the user in automatic mode", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "3."]);
    const client = new Client({ model, tools: [add], autoExecuteTools: true });
    await client.query("Add");
    const refused: unknown[] = [];
    for await (const block of client.receiveMessages())
      if (block.type === "tool_use")
        await client.addToolResult(block.id, "mine").catch((error: unknown) => refused.push(error));
    expect(refused).toMatchObject([{ code: "unknown_tool_call", id: "add_1" }]);
    expect(answered(client.history)).toEqual(["add_1"]);
  });

  test("accepts none in manual mode either, if it cannot run", async () => {
    using model = scriptedModel([{ calls: [{ name: "nope", id: "nope_1" }, callAdd] }]);
    const client = new Client({ model, tools: [add] });
    await client.query("Add");
    const refused: unknown[] = [];
    for await (const block of client.receiveMessages()) {
      if (block.type === "tool_use_error")
        await client.addToolResult(block.id, "mine").catch((error: unknown) => refused.push(error));
      if (block.type === "tool_use") await client.addToolResult(block.id, 3);
    }
    expect(refused).toMatchObject([{ code: "unknown_tool_call", id: "nope_1" }]);
    expect(answered(client.history)).toEqual(["add_1", "nope_1"]);
  });

  test.each([0, 1])(
    'does not keep query("") inside the loop from continuing, first or last',
    async (place) => {
      const calls = [callAdd].toSpliced(place, 0, { name: "nope", id: "nope_1", input: { a: 0, b: 0 } });
      using model = scriptedModel([
        { calls, usage },
        { text: "3.", usage },
      ]);
      const client = new Client({ model, tools: [add] });
      await client.query("Add");
      const kinds: string[] = [];
      for await (const block of client.receiveMessages()) {
        kinds.push(block.type);
        if (block.type !== "tool_use") continue;
        await client.addToolResult(block.id, 3);
        await client.query("");
      }
      expect(kinds.toSorted()).toEqual(["text", "tool_use", "tool_use_error"]);
      expect(answered(model.requests[1]?.messages ?? [])).toEqual(["add_1", "nope_1"]);
      expect(client.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30 });
    },
  );
});

describe("the call that is the final answer", () => {
  test("is answered also when it is made twice", async () => {
    using model = scriptedModel(
      [{ calls: [finalAnswer({ x: 1 }, "a"), finalAnswer({ x: 2 }, "b")] }],
      answersByTool,
    );
    const client = new Client({ model, output: { x: Number } });
    await client.query("Answer");
    expect(await blocksOf(client)).toEqual([]);
    expect(client.result?.output).toEqual({ x: 2 });
    expect(answered(client.history)).toEqual(["a", "b"]);
  });

  test("is answered also when the loop is left before", async () => {
    using model = scriptedModel([{ calls: [callAdd, finalAnswer({ x: 1 }, "a")] }], answersByTool);
    const client = new Client({ model, tools: [add], autoExecuteTools: true, output: { x: Number } });
    await client.query("Answer");
    for await (const _ of client.receiveMessages()) break;
    expect(answered(client.history)).toEqual(["a", "add_1"]);
    expect(client.openCalls).toEqual([]);
  });

  test("is answered also when the client's signal ends the run", async () => {
    using model = scriptedModel([{ calls: [callAdd, finalAnswer({ x: 1 }, "a")] }], answersByTool);
    const controller = new AbortController();
    const client = new Client({
      model,
      tools: [add],
      autoExecuteTools: true,
      output: { x: Number },
      signal: controller.signal,
    });
    await client.query("Answer");
    for await (const _ of client.receiveMessages()) controller.abort();
    expect(client.stopReason).toBe("aborted");
    expect(answered(client.history)).toEqual(["a", "add_1"]);
  });

  test("is not retried while calls of the user are open", async () => {
    using model = scriptedModel(
      [
        { calls: [callAdd, finalAnswer({ x: "one" }, "a")] },
        (request) => {
          expect(answered(request.messages)).toEqual(["a", "add_1"]);
          return { calls: [finalAnswer({ x: 3 })] };
        },
      ],
      answersByTool,
    );
    const client = new Client({ model, tools: [add], output: { x: Number } });
    await client.query("Answer");
    await blocksOf(client);
    expect(client.stopReason).toBe("client_calls");
    await client.addToolResult("add_1", 3);
    await client.query("");
    await blocksOf(client);
    expect(client.result?.output).toEqual({ x: 3 });
  });

  test("is not a tool of the user's: it needs no approval, and no hook sees it", async () => {
    using model = scriptedModel(
      [{ calls: [finalAnswer({ x: "one" })] }, { calls: [finalAnswer({ x: 1 })] }],
      answersByTool,
    );
    const seen: string[] = [];
    const client = new Client({
      model,
      output: { x: Number },
      canUseTool: () => false,
      hooks: {
        pre_tool_use: [({ toolName }) => void seen.push(toolName)],
        post_tool_use: [({ toolName }) => void seen.push(toolName)],
      },
    });
    await client.query("Answer");
    expect(await blocksOf(client)).toEqual([]);
    expect(client.result?.output).toEqual({ x: 1 });
    expect(seen).toEqual([]);
  });
});
