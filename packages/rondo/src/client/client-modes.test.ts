import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger, tool } from "../index.ts";
import { type ScriptedStep, scriptedModel } from "../testing/index.ts";
import { add, ask, callAdd, clientFor, kinds, roles } from "./testkit/client-kit.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

describe("manual mode", () => {
  test('the user answers the calls; results and query("") continue', async () => {
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

  test('query("") inside the loop continues in the same loop', async () => {
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

  test('query("") inside the loop can be retried after its request failed', async () => {
    using model = scriptedModel([{ calls: [callAdd] }, { error: new Error("no server") }, "It is 42."]);
    const client = clientFor(model);
    await client.query("What is 25 + 17?");
    const seen: string[] = [];
    for await (const block of client.receiveMessages()) {
      seen.push(block.type);
      if (block.type !== "tool_use") continue;
      await client.addToolResult(block.id, 42);
      await expect(client.query("")).rejects.toThrow("no server");
      await client.query("");
    }
    expect(seen).toEqual(["tool_use", "text"]);
    expect(client.result?.text).toBe("It is 42.");
  });

  test('a prompt or query("") is refused while calls have no result, with their ids', async () => {
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

  test("a result for an unknown or answered call is refused", async () => {
    using model = scriptedModel([{ calls: [callAdd] }]);
    const client = clientFor(model);
    await ask(client, "Go");
    await expect(client.addToolResult("call_9", 1)).rejects.toThrow(
      "no open tool call 'call_9'. Open calls: call_1.",
    );
    await client.addToolResult("call_1", { list: [1] });
    expect(client.history.at(-1)).toMatchObject({ content: '{"list":[1]}', name: "add" });
    await expect(client.addToolResult("call_1", 1)).rejects.toMatchObject({ code: "unknown_tool_call" });
  });

  test("openCalls have the names of the tool definitions", async () => {
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

  test("fixed arguments that a model writes are dropped", async () => {
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

  test("a call that cannot run becomes an error block and is answered", async () => {
    using model = scriptedModel([
      { calls: [{ name: "add", arguments: "nonsense" }, { name: "nothing" }] },
      "Sorry.",
    ]);
    const client = clientFor(model);
    const blocks = await ask(client, "Go");
    expect(kinds(blocks)).toEqual(["tool_use_error", "tool_use_error"]);
    expect(blocks[0]).toMatchObject({ raw_data: "nonsense", error: expect.stringContaining("Invalid JSON") });
    expect(roles(client.history)).toEqual(["user", "assistant", "tool", "tool"]);
    await ask(client, "");
  });

  test("a call can be answered after leaving the loop", async () => {
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
      { type: "tool_result", tool_use_id: "call_1", name: "add", content: 42, is_error: false },
      { type: "tool_result", tool_use_id: "call_2", name: "add", content: 42, is_error: false },
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

  test("shows the error of a failing tool before its result enters history, and continues", async () => {
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

  test("stops at maxToolIterations: the last calls are shown and answered, but not run", async () => {
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

  test.each([
    [undefined, 3],
    [2, 2],
    [Number.POSITIVE_INFINITY, 4],
  ])("runs the same call with the same result as often as maxRepeats says: %s", async (maxRepeats, runs) => {
    using model = scriptedModel([...Array.from({ length: 4 }, () => ({ calls: [callAdd] })), "Done."]);
    const client = clientFor(model, { ...auto, ...(maxRepeats !== undefined && { maxRepeats }) });
    const blocks = await ask(client, "Go");
    const outcomes = kinds(blocks).filter((kind) => kind === "tool_result" || kind === "tool_use_error");
    expect(outcomes).toEqual([0, 1, 2, 3].map((n) => (n >= runs ? "tool_use_error" : "tool_result")));
  });

  test("yields pieces of calls only with includeToolUseDeltas", async () => {
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
