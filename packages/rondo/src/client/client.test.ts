import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "../testing/index.ts";
import type { Block } from "./blocks.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./client-options.ts";
import { estimateTokens } from "./estimate-tokens.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("broken");
});
const callAdd = { name: "add", input: { a: 25, b: 17 } };

function clientFor(model: ScriptedModel, options: Partial<ClientOptions> = {}): Client {
  return new Client({ model, tools: [add, fail], ...options });
}

async function blocksOf(client: Client): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const block of client.receiveMessages()) blocks.push(block);
  return blocks;
}

/** Asks once and gives the blocks of the answer. */
async function ask(client: Client, prompt: string): Promise<Block[]> {
  await client.query(prompt);
  return blocksOf(client);
}

const kinds = (blocks: readonly Block[]) => blocks.map(({ type }) => type);
const roles = (messages: readonly Message[]) => messages.map(({ role }) => role);

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

  test("counts tokens per run and in total, and says when the server did not tell", async () => {
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

  test("learns from the server how many tokens its history really has", async () => {
    const usage = { inputTokens: 400, outputTokens: 5, totalTokens: 405 };
    using model = scriptedModel([{ text: "Fine.", usage }]);
    const client = clientFor(model, { tools: [] });
    await ask(client, "word ".repeat(100));
    const plain = estimateTokens(client.history);
    expect(estimateTokens(client.history, { calibration: client.calibration })).toBeGreaterThan(plain);
  });

  test("takes parts with images as a prompt", async () => {
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

test("a prompt that is none is refused, and nothing is sent", async () => {
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

  test("in mid-stream keeps what had come", async () => {
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

describe("manual mode", () => {
  test('gives the calls to you; results and query("") go on', async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }, "It is 42."]);
    const client = clientFor(model);
    const blocks = await ask(client, "What is 25 + 17?");
    expect(blocks).toEqual([
      { type: "text", text: "So." },
      { type: "tool_use", id: "call_1", name: "add", input: { a: 25, b: 17 } },
    ]);
    expect(client.stopReason).toBe("client_calls");
    await client.addToolResult("call_1", 42, "add");
    expect(client.history.at(-1)).toEqual({
      role: "tool",
      tool_call_id: "call_1",
      name: "add",
      content: "42",
    });
    expect(await ask(client, "")).toEqual([{ type: "text", text: "It is 42." }]);
    expect(roles(model.requests[1]?.messages ?? [])).toEqual(["user", "assistant", "tool"]);
    expect(client.turnMetadata.turnCount).toBe(1);
  });

  test('query("") inside the loop goes on in the same loop', async () => {
    using model = scriptedModel([
      { calls: [callAdd] },
      { calls: [{ name: "add", input: { a: 42, b: 1 } }] },
      "It is 43.",
    ]);
    const client = clientFor(model);
    await client.query("What is 25 + 17 + 1?");
    const seen: unknown[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block.type === "tool_use" ? block.input : block);
      if (block.type !== "tool_use") continue;
      await client.addToolResult(block.id, await add.execute(block.input as { a: number; b: number }));
      await client.query("");
    }
    expect(seen).toEqual([
      { a: 25, b: 17 },
      { a: 42, b: 1 },
      { type: "text", text: "It is 43." },
    ]);
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"]);
  });

  test('a new prompt, or query(""), over calls without results is refused, with their ids', async () => {
    using model = scriptedModel([{ calls: [callAdd, callAdd] }, "Fine."]);
    const client = clientFor(model);
    await ask(client, "Go");
    await client.addToolResult("call_2", 1);
    for (const prompt of ["New", ""])
      await expect(client.query(prompt)).rejects.toMatchObject({
        code: "unanswered_tool_calls",
        ids: ["call_1"],
      });
    await client.addToolResult("call_1", 2);
    await ask(client, "");
  });

  test("a result for a call that is unknown or has one is refused", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const client = clientFor(model);
    await ask(client, "Go");
    await expect(client.addToolResult("call_9", 1)).rejects.toThrow(
      "no open tool call 'call_9'. These calls wait: call_1.",
    );
    await client.addToolResult("call_1", { list: [1] });
    expect(client.history.at(-1)).toMatchObject({ content: '{"list":[1]}', name: "add" });
    await expect(client.addToolResult("call_1", 1)).rejects.toMatchObject({ code: "unknown_tool_call" });
  });

  test("tells which calls are open, under the names that you gave", async () => {
    const users = tool("users", "Users.", {}, () => "users");
    users.subtool({ name: "create", description: "Create." }, async () => "created");
    using model = scriptedModel([{ calls: [{ name: "users__create" }, { name: "users" }] }]);
    const seen: string[] = [];
    const hooks = { post_tool_use: [({ toolName }: { toolName: string }) => void seen.push(toolName)] };
    const client = clientFor(model, { tools: [users], hooks });
    await ask(client, "Go");
    expect(client.openCalls).toEqual([
      { type: "tool_use", id: "call_1", name: "users.create", input: {} },
      { type: "tool_use", id: "call_2", name: "users", input: {} },
    ]);
    await client.addToolResult("call_1", "done");
    await client.addToolResult("call_2", "done", "users");
    expect(client.openCalls).toEqual([]);
    expect(seen).toEqual(["users.create", "users"]);
    expect(client.history.slice(2)).toMatchObject([{ name: "users__create" }, { name: "users" }]);
  });

  test("drops what a model writes for fixed arguments", async () => {
    const call = tool(
      {
        name: "call_api",
        description: "Calls.",
        input: { path: String, key: String },
        fixed: { key: "mine" },
        registry: false,
      },
      async ({ path, key }) => `${path} ${key}`,
    );
    using model = scriptedModel([{ calls: [{ name: "call_api", input: { path: "/x", key: "yours" } }] }]);
    const client = clientFor(model, { tools: [call] });
    expect(await ask(client, "Go")).toMatchObject([{ type: "tool_use", input: { path: "/x" } }]);
    expect(client.openCalls[0]?.input).toEqual({ path: "/x" });
  });

  test("a call that cannot run is an error block, and answered", async () => {
    using model = scriptedModel([
      { calls: [{ name: "add", arguments: "nonsense" }, { name: "nothing" }] },
      "Sorry.",
    ]);
    const client = clientFor(model);
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use_error", "tool_use_error", "tool_result", "tool_result"]);
    expect(blocks[0]).toMatchObject({ raw_data: "nonsense", error: expect.stringContaining("Invalid JSON") });
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "tool"]);
    await ask(client, "");
  });

  test("leaving at a call lets you answer it later", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "It is 42."]);
    const client = clientFor(model);
    await client.query("Go");
    for await (const block of client.receiveMessages()) if (block.type === "tool_use") break;
    await client.addToolResult("call_1", 42);
    expect(await ask(client, "")).toEqual([{ type: "text", text: "It is 42." }]);
  });
});

describe("automatic mode", () => {
  const auto = { autoExecuteTools: true };

  test("runs the tools and asks again until the answer is text", async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd, callAdd] }, "It is 42."]);
    const client = clientFor(model, auto);
    expect(await ask(client, "Go")).toEqual([
      { type: "text", text: "So." },
      { type: "tool_use", id: "call_1", name: "add", input: { a: 25, b: 17 } },
      { type: "tool_use", id: "call_2", name: "add", input: { a: 25, b: 17 } },
      { type: "tool_result", tool_use_id: "call_1", content: 42, is_error: false },
      { type: "tool_result", tool_use_id: "call_2", content: 42, is_error: false },
      { type: "text", text: "It is 42." },
    ]);
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(roles(model.requests[1]?.messages ?? [])).toEqual(["user", "assistant", "tool", "tool"]);
  });

  test("works for a second query too", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "42.", { calls: [callAdd] }, "Still 42."]);
    const client = clientFor(model, auto);
    await ask(client, "Go");
    expect(kinds(await ask(client, "Again"))).toEqual(["tool_use", "tool_result", "text"]);
  });

  test("tells of a tool that fails before its result is in history, and goes on", async () => {
    using model = scriptedModel([{ calls: [{ name: "fail" }] }, "Sorry."]);
    const client = clientFor(model, auto);
    await client.query("Go");
    const seen: unknown[] = [];
    for await (const block of client.receiveMessages()) seen.push([block.type, client.history.length]);
    expect(seen).toEqual([
      ["tool_use", 2],
      ["tool_use_error", 2],
      ["tool_result", 3],
      ["text", 3],
    ]);
    expect(client.history[2]?.content).toBe('{"error":"broken","tool":"fail"}');
  });

  test("stops at maxToolIterations: the last calls are shown, answered, and not run", async () => {
    using model = scriptedModel([1, 2, 3, 4].map((a) => ({ calls: [{ name: "add", input: { a, b: 0 } }] })));
    const client = clientFor(model, { ...auto, maxToolIterations: 3 });
    const blocks = await ask(client, "Go");
    expect(blocks.filter(({ type }) => type === "tool_use")).toHaveLength(4);
    expect(client.stopReason).toBe("max_turns");
    expect(client.history.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("limit reached"),
    });
  });

  test("passes pieces of calls on only if asked to", async () => {
    const script: ScriptedStep[] = [{ calls: [{ name: "add", arguments: ['{"a":1,', '"b":2}'] }] }, "3."];
    using plain = scriptedModel(script);
    expect(kinds(await ask(clientFor(plain, auto), "Go"))).not.toContain("tool_use_delta");
    using model = scriptedModel(script);
    const blocks = await ask(clientFor(model, { ...auto, includeToolUseDeltas: true }), "Go");
    expect(blocks.slice(0, 2)).toEqual([
      { type: "tool_use_delta", id: "call_1", name: "add", partial_json: '{"a":1,' },
      { type: "tool_use_delta", id: "call_1", name: "add", partial_json: '"b":2}' },
    ]);
  });
});

describe("permissions", () => {
  const auto = { autoExecuteTools: true };

  test("allowedTools and disallowedTools decide what is offered", async () => {
    using model = scriptedModel(["Hello.", "Hello."]);
    await ask(clientFor(model, { allowedTools: ["add"] }), "Hi");
    await ask(clientFor(model, { disallowedTools: ["add"] }), "Hi");
    expect(model.requests.map((it) => it.tools?.map((offered) => offered.function.name))).toEqual([
      ["add"],
      ["fail"],
    ]);
  });

  test("canUseTool approves, denies or changes, and may take its time", async () => {
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }] }, "Done."]);
    const client = clientFor(model, {
      ...auto,
      canUseTool: async ({ name }) => (name === "fail" ? false : { modifiedInput: { a: 1, b: 1 } }),
    });
    const blocks = await ask(client, "Go");
    expect(blocks).toContainEqual({
      type: "tool_result",
      tool_use_id: "call_1",
      content: 2,
      is_error: false,
    });
    expect(blocks).toContainEqual(
      expect.objectContaining({ type: "tool_use_error", error: "Tool use denied: no reason was given" }),
    );
  });

  test("contradictory or misspelt options are refused", () => {
    using model = scriptedModel([]);
    const make = (options: object) => () => clientFor(model, options);
    expect(make({ allowedTools: ["add"], disallowedTools: ["add"] })).toThrow(
      "none of the tools that are in allowedTools",
    );
    expect(make({ tools: [add, add] })).toThrow("Duplicate tool name: add");
    expect(make({ temperature: 3 })).toThrow("temperature: expected a number from 0 to 2, got 3");
    expect(make({ maxTokens: 0 })).toThrow("maxTokens: expected a whole number from 1, got 0");
    expect(make({ maxTurns: 0 })).toThrow("maxTurns");
    expect(make({ baseURL: "http://localhost:1/v1" })).toThrow("baseURL: expected nothing");
    expect(make({ model: 5 })).toThrow("model: expected a model");
    expect(make({ hooks: { pre_tool: [] } })).toThrow("hooks: expected one of pre_tool_use");
    expect(make({ hooks: { pre_tool_use: [5] } })).toThrow(
      "hooks.pre_tool_use[0]: expected a function, got 5",
    );
    expect(make({ system: "x" })).toThrow("options.system: expected one of the options");
    expect(make({ disallowedTools: ["ad"] })).toThrow(
      'disallowedTools[0]: expected one of the tools: add, fail, got "ad"',
    );
    expect(make({ temperature: 1, settings: { temperature: 0 } })).toThrow(
      "settings.temperature: expected nothing",
    );
  });
});

describe("hooks", () => {
  const auto = { autoExecuteTools: true };

  test("user_prompt_submit can change the prompt; history has the changed one", async () => {
    using model = scriptedModel(["Fine."]);
    const client = clientFor(model, {
      hooks: { user_prompt_submit: [async ({ prompt }) => ({ modifiedPrompt: `${prompt} (safely)` })] },
    });
    await ask(client, "Delete it");
    expect(client.history[0]).toEqual({ role: "user", content: "Delete it (safely)" });
  });

  test("user_prompt_submit can block: nothing is sent or stored", async () => {
    using model = scriptedModel([]);
    const client = clientFor(model, {
      hooks: { user_prompt_submit: [() => ({ continue: false, reason: "no" })] },
    });
    await expect(client.query("Hi")).rejects.toThrow("Prompt blocked: no");
    expect(client.history).toEqual([]);
  });

  test('an empty modification counts, a missing one does not; query("") asks no hook', async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Fine."]);
    let prompts = 0;
    const client = clientFor(model, {
      hooks: {
        user_prompt_submit: [
          () => {
            prompts += 1;
            return { modifiedPrompt: "" };
          },
        ],
      },
    });
    await ask(client, "Go");
    expect(client.history[0]).toEqual({ role: "user", content: "" });
    await client.addToolResult("call_1", 42);
    await ask(client, "");
    expect(prompts).toBe(1);
  });

  test("pre_tool_use can block: one error block, and the model is told", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Sorry."]);
    const client = clientFor(model, {
      ...auto,
      hooks: { pre_tool_use: [() => ({ continue: false, reason: "risky" })] },
    });
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use_error", "tool_result", "text"]);
    expect(blocks[0]).toMatchObject({ error: "Tool use blocked: risky" });
    expect(client.history[2]?.content).toContain("Tool use blocked: risky");
  });

  test("pre_tool_use can change the input in both modes, also to an empty one", async () => {
    const none = tool(
      "none",
      "Takes nothing.",
      { note: { type: "string", optional: true } },
      ({ note }) => note ?? "none",
    );
    const hooks = { pre_tool_use: [() => ({ modifiedInput: {} })] };
    using manual = scriptedModel([{ calls: [{ name: "none", input: { note: "x" } }] }]);
    expect(await ask(clientFor(manual, { tools: [none], hooks }), "Go")).toEqual([
      { type: "tool_use", id: "call_1", name: "none", input: {} },
    ]);
    using model = scriptedModel([{ calls: [{ name: "none", input: { note: "x" } }] }, "Done."]);
    expect(await ask(clientFor(model, { tools: [none], hooks, ...auto }), "Go")).toContainEqual(
      expect.objectContaining({ type: "tool_result", content: "none" }),
    );
  });

  test("run in order; the first that decides ends the row", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Done."]);
    const seen: string[] = [];
    const note = (name: string, decision?: object) => async () => {
      seen.push(name);
      return decision;
    };
    await ask(
      clientFor(model, {
        ...auto,
        hooks: { pre_tool_use: [note("one"), note("two", { continue: true }), note("three")] },
      }),
      "Go",
    );
    expect(seen).toEqual(["one", "two"]);
  });

  test("post_tool_use sees the result as it is and in history, in both modes, and changes nothing", async () => {
    const seen: unknown[] = [];
    const hooks = {
      post_tool_use: [
        (event: {
          toolName: string;
          toolInput: object;
          toolResult: unknown;
          toolUseId: string;
          history: Message[];
        }) => {
          seen.push([
            event.toolName,
            event.toolInput,
            event.toolResult,
            event.toolUseId,
            event.history.at(-1)?.role,
          ]);
          return { continue: false };
        },
      ],
    };
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }] }, "Done."]);
    await ask(clientFor(model, { ...auto, hooks }), "Go");
    using manual = scriptedModel([{ calls: [callAdd] }]);
    const client = clientFor(manual, { hooks });
    await ask(client, "Go");
    await client.addToolResult("call_1", { sum: 42 });
    expect(seen).toEqual([
      ["add", { a: 25, b: 17 }, 42, "call_1", "tool"],
      ["fail", {}, { error: "broken", tool: "fail" }, "call_2", "tool"],
      ["add", { a: 25, b: 17 }, { sum: 42 }, "call_1", "tool"],
    ]);
  });

  test("that throw end the run, and history stays valid", async () => {
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }, "Fine."]);
    let isBroken = true;
    const client = clientFor(model, {
      ...auto,
      hooks: {
        pre_tool_use: [
          () => {
            if (isBroken) throw new Error("hook failed");
          },
        ],
      },
    });
    await client.query("Go");
    await expect(blocksOf(client)).rejects.toThrow("hook failed");
    expect(roles(client.history)).toEqual(["user", "assistant"]);
    isBroken = false;
    await ask(client, "Again");
  });
});

describe("one run at a time", () => {
  test("receiving before any query is refused", () => {
    using model = scriptedModel([]);
    expect(() => clientFor(model).receiveMessages()).toThrow("call query() first");
  });

  test("a second query while an answer is under way is refused", async () => {
    using model = scriptedModel([{ text: ["One ", "two."] }]);
    const client = clientFor(model);
    await client.query("Hi");
    await expect(client.query("Hi again")).rejects.toThrow("while an answer is under way");
    await expect(client.query("")).rejects.toThrow("while an answer is under way");
    await blocksOf(client);
  });

  test("a second query while a hook still looks at the first is refused", async () => {
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

  test('query("") with nothing to go on from is refused', async () => {
    using model = scriptedModel([]);
    await expect(clientFor(model).query("")).rejects.toThrow("prompt: expected a prompt to begin with");
  });
});

describe("interrupt()", () => {
  test("in mid-answer closes the stream, keeps the text, and the client goes on", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }, "Again."]);
    const client = clientFor(model);
    await client.query("Hi");
    const seen: Block[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block);
      await client.interrupt();
    }
    expect(seen).toEqual([{ type: "text", text: "Half " }]);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
    expect(model.requests[0]?.wasLeft).toBe(true);
    await ask(client, "Again");
  });

  test("from elsewhere ends a pending wait for the model", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise] }]);
    const client = clientFor(model);
    await client.query("Hi");
    const blocks = blocksOf(client);
    await client.interrupt();
    await blocks;
    expect(client.stopReason).toBe("aborted");
  });

  test("while query() still waits for the server changes nothing", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: "Late.", waitFor: gate.promise }, "Hello."]);
    const client = clientFor(model);
    const asking = client.query("Hi");
    await expect.poll(() => model.requests.length).toBe(1);
    await client.interrupt();
    await asking;
    expect(await blocksOf(client)).toEqual([]);
    expect(client.history).toEqual([]);
    await ask(client, "Hi");
  });

  test("while a person is asked for approval does not wait for the answer", async () => {
    const gate = Promise.withResolvers<boolean>();
    let isAsked = false;
    using model = scriptedModel([{ text: "So.", calls: [callAdd] }, "Fine."]);
    const client = clientFor(model, {
      autoExecuteTools: true,
      canUseTool: () => {
        isAsked = true;
        return gate.promise;
      },
    });
    await client.query("Go");
    const blocks = blocksOf(client);
    await expect.poll(() => isAsked).toBe(true);
    await client.interrupt();
    await blocks;
    await ask(client, "Again");
    gate.resolve(true);
    await gate.promise;
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  });

  test("in manual mode answers the calls that are open", async () => {
    using model = scriptedModel([{ calls: [callAdd] }, "Fine."]);
    const client = clientFor(model);
    await client.query("Go");
    for await (const block of client.receiveMessages())
      if (block.type === "tool_use") await client.interrupt();
    expect(client.history.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"cancelled","tool":"add"}',
    });
    await ask(client, "Again");
  });

  test("before receiving yields nothing; again and with nothing under way it does nothing", async () => {
    using model = scriptedModel(["Hello.", "Again."]);
    const client = clientFor(model);
    await client.interrupt();
    await client.query("Hi");
    await client.interrupt();
    await client.interrupt();
    expect(await blocksOf(client)).toEqual([]);
    expect(await ask(client, "Again")).toEqual([{ type: "text", text: "Again." }]);
  });

  test("while tools run aborts them, and each call has its answer", async () => {
    let isRunning = false;
    const wait = tool("wait", "Waits.", {}, async (_input, { signal }) => {
      isRunning = true;
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    using model = scriptedModel([{ calls: [{ name: "wait" }] }, "Fine."]);
    const client = clientFor(model, { tools: [wait], autoExecuteTools: true });
    await client.query("Go");
    const blocks = blocksOf(client);
    await expect.poll(() => isRunning).toBe(true);
    await client.interrupt();
    await blocks;
    expect(client.history.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"cancelled","tool":"wait"}',
    });
    await ask(client, "Again");
  });
});

describe("a signal", () => {
  test("in mid-answer ends the run like interrupt(), and refuses later queries", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }]);
    const controller = new AbortController();
    const client = clientFor(model, { signal: controller.signal });
    await client.query("Hi");
    const seen: Block[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block);
      controller.abort(new Error("enough"));
    }
    expect(seen).toEqual([{ type: "text", text: "Half " }]);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
    await expect(client.query("Again")).rejects.toThrow("enough");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("while the server is still thinking throws its reason and changes nothing", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: "Late.", waitFor: gate.promise }]);
    const controller = new AbortController();
    const client = clientFor(model, { signal: controller.signal });
    const asking = client.query("Hi");
    await expect.poll(() => model.requests.length).toBe(1);
    controller.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(client.history).toEqual([]);
  });
});

describe("leaving the loop", () => {
  test("closes the stream and keeps what had come", async () => {
    const gate = Promise.withResolvers<void>();
    using model = scriptedModel([{ text: ["Half ", gate.promise, "whole"] }]);
    await using client = clientFor(model);
    await client.query("Hi");
    for await (const _ of client.receiveMessages()) break;
    expect(model.requests[0]?.wasLeft).toBe(true);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(client.stopReason).toBe("aborted");
  });

  test("at a tool's result leaves valid history", async () => {
    using model = scriptedModel([{ calls: [callAdd, { name: "fail" }, callAdd] }, "Fine."]);
    const client = clientFor(model, { autoExecuteTools: true });
    await client.query("Go");
    for await (const block of client.receiveMessages()) if (block.type === "tool_use_error") break;
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "tool", "tool"]);
    await ask(client, "Again");
  });
});

describe("structured output", () => {
  const output = z.object({ sum: z.number() });
  const native = { profile: { outputMode: "native" as const } };

  test("is validated and given as a value", async () => {
    using model = scriptedModel(['{"sum": 42}'], native);
    const client = clientFor(model, { output });
    await ask(client, "Go");
    expect(client.result).toMatchObject({ output: { sum: 42 }, stopReason: "completed" });
    expect(model.requests[0]?.output).toMatchObject({ schema: { properties: { sum: { type: "number" } } } });
  });

  test("that does not fit is asked for once more, with the error", async () => {
    using model = scriptedModel(['{"total": 42}', '{"sum": 42}'], native);
    const client = clientFor(model, { output });
    await ask(client, "Go");
    expect(client.result?.output).toEqual({ sum: 42 });
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("sum");
  });

  test("that does not fit twice is an error", async () => {
    using model = scriptedModel(["No.", "Never."], native);
    const client = clientFor(model, { output });
    await client.query("Go");
    await expect(blocksOf(client)).rejects.toMatchObject({ code: "invalid_output", text: "Never." });
  });

  test("is asked for in words where the server cannot enforce it", async () => {
    using model = scriptedModel(['Here:\n```json\n{"sum": 42}\n```'], { profile: { outputMode: "prompt" } });
    const client = clientFor(model, { output, systemPrompt: "Be brief." });
    await ask(client, "Go");
    expect(client.result?.output).toEqual({ sum: 42 });
    expect(model.requests[0]?.messages[0]?.content).toContain("JSON Schema");
  });

  test("through a tool that does not fit is asked for once more, and does not show", async () => {
    using model = scriptedModel(
      [
        { calls: [{ name: "final_answer", input: { total: 42 } }] },
        { calls: [{ name: "final_answer", input: { sum: 42 } }] },
      ],
      { profile: { outputMode: "tool" } },
    );
    const client = clientFor(model, { output, tools: [] });
    expect(kinds(await ask(client, "Go")).filter((kind) => kind !== "tool_result")).toEqual([]);
    expect(client.result?.output).toEqual({ sum: 42 });
  });

  test("comes through a tool where the profile says so, also after other tools", async () => {
    using model = scriptedModel(
      [{ calls: [callAdd] }, { calls: [{ name: "final_answer", input: { sum: 42 } }] }],
      { profile: { outputMode: "tool" } },
    );
    const client = clientFor(model, { output, autoExecuteTools: true });
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use", "tool_result"]);
    expect(client.result).toMatchObject({ output: { sum: 42 }, stopReason: "completed" });
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "assistant", "tool"]);
  });
});
