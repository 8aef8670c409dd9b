import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, tool } from "@openai/agents";
import type OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openaiClient } from "./testkit/openai-clients.ts";
import { serverTools, start, type TestServer } from "./testkit/start.ts";

const model = "test";
const callClock = { calls: [{ name: "clock", input: { city: "Rome" } }] };

// Conversations as real clients use them. All that they are sent is held against the public schema.
describe.each(["memory", "sqlite"] as const)("with the store %s", (store) => {
  test("a conversation is made, read, changed and deleted", async () => {
    const { server, client } = await started(store, []);
    const made = await client.conversations.create({
      items: [{ role: "developer", content: "Be kind." }],
      metadata: { topic: "demo" },
    });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "demo" } });
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    const changed = await client.conversations.update(made.id, { metadata: { topic: "other" } });
    expect(changed).toEqual({ ...made, metadata: { topic: "other" } });
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: "conversation.deleted",
      deleted: true,
    });
    await expect(client.conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect((await client.conversations.create()).metadata).toEqual({});
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("items of every kind are added, listed in pages, read and deleted", async () => {
    const { server, client } = await started(store, []);
    const { id } = await client.conversations.create();
    const added = await client.conversations.items.create(id, {
      items: [
        { role: "user", content: [{ type: "input_text", text: "Hi." }] },
        { role: "assistant", content: "Yes?" },
        { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "3" },
        { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
      ],
    });
    const all: string[] = [];
    for await (const item of client.conversations.items.list(id, {
      limit: 2,
      order: "asc",
      include: ["reasoning.encrypted_content"],
    }))
      all.push(item.id ?? "");
    expect(all).toEqual(added.data.map((item) => item.id));
    const [first = ""] = all;
    expect(await client.conversations.items.retrieve(first, { conversation_id: id })).toEqual(added.data[0]);
    expect(await client.conversations.items.delete(first, { conversation_id: id })).toMatchObject({ id });
    await expect(client.conversations.items.retrieve(first, { conversation_id: id })).rejects.toMatchObject({
      status: 404,
      code: "item_not_found",
    });
    const { data } = await client.conversations.items.list(id);
    expect(data.map((item) => item.id)).toEqual(all.slice(1).toReversed());
    await expect(client.conversations.items.list(id, { after: "msg_0" })).rejects.toMatchObject({
      status: 400,
    });
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("responses of every way to ask add to it, with the calls of the server", async () => {
    const { server, client } = await started(store, [callClock, "Noon.", "Still noon.", "Past noon."]);
    const { id: conversation } = await client.conversations.create();
    const first = await client.responses.create({ model, input: "When?", conversation });
    expect(first.conversation).toEqual({ id: conversation });
    const stream = client.responses.stream({ model, input: "Now?", conversation: { id: conversation } });
    expect((await stream.finalResponse()).conversation).toEqual({ id: conversation });
    const queued = await client.responses.create({
      model,
      input: "And now?",
      conversation,
      background: true,
      stream: true,
    });
    await Array.fromAsync(queued);
    const { data } = await client.conversations.items.list(conversation, { order: "asc" });
    expect(data.map(({ type }) => type)).toEqual([
      "message",
      "mcp_call",
      "message",
      "message",
      "message",
      "message",
      "message",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

test("wrong requests are told what is wrong", async () => {
  const { server, client } = await started("memory", []);
  const { id } = await client.conversations.create();
  const wrong = (promise: Promise<unknown>, error: object) => expect(promise).rejects.toMatchObject(error);
  await wrong(client.conversations.create({ items: [{ role: "user" } as never] }), {
    status: 400,
    param: "items[0].content",
  });
  await wrong(client.conversations.items.create(id, {} as never), { status: 400, param: "items" });
  await wrong(client.conversations.update(id, {} as never), { status: 400, param: "metadata" });
  await wrong(
    client.conversations.items.create(id, {
      items: Array.from({ length: 1001 }, () => ({ role: "user", content: "" })),
    }),
    {
      status: 400,
      param: "items",
    },
  );
  await wrong(client.conversations.items.create("conv_0", { items: [] }), {
    status: 404,
    code: "conversation_not_found",
  });
  await wrong(client.responses.create({ model, input: "Hi.", conversation: "conv_0" }), {
    status: 404,
    code: "conversation_not_found",
  });
  await wrong(
    client.responses.create({ model, input: "Hi.", conversation: id, previous_response_id: "resp_1" }),
    { status: 400, param: "conversation" },
  );
  expect(server.exchanges.flaws()).toEqual([]);
});

test("a busy conversation answers 409 if the config says so", async () => {
  const gate = Promise.withResolvers<void>();
  const config = { conversations: "reject" as const };
  const server = await start({ script: [{ text: ["No", gate.promise, "on."] }], config });
  const client = openaiClient(server);
  const { id: conversation } = await client.conversations.create();
  const first = client.responses.create({ model, input: "When?", conversation });
  await server.model.request(0);
  const second = client.responses.create({ model, input: "Now?", conversation });
  await expect(second).rejects.toMatchObject({ status: 409, code: "conversation_busy" });
  gate.resolve();
  expect((await first).output_text).toBe("Noon.");
});

test("a conversation outlives restarts of the server", async () => {
  const config = { store: `sqlite:${join(await temporaryFolder(), "test.db")}` };
  const before = await start({ script: ["Hello, Ada."], config });
  const { id: conversation } = await openaiClient(before).conversations.create();
  await openaiClient(before).responses.create({ model, input: "I am Ada.", conversation });
  await before.close();

  const after = await start({ script: ["Ada."], config });
  const client = openaiClient(after);
  await client.responses.create({ model, input: "Who am I?", conversation });
  expect(after.model.requests[0]?.messages).toMatchObject([
    { role: "user", content: "I am Ada." },
    { role: "assistant", content: "Hello, Ada." },
    { role: "user", content: "Who am I?" },
  ]);
  const { data } = await client.conversations.items.list(conversation);
  expect(data).toHaveLength(4);
  expect([...before.exchanges.flaws(), ...after.exchanges.flaws()]).toEqual([]);
});

describe("the Agents SDK", () => {
  const add = tool({
    name: "add",
    description: "Adds.",
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => String(a + b),
  });
  const callAdd = { calls: [{ name: "add", input: { a: 1, b: 2 } }] };
  const prepare = (server: TestServer) => {
    const client = openaiClient(server);
    const modelProvider = new OpenAIProvider({ openAIClient: client, useResponses: true });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    return { client, runner, agent: new Agent({ name: "Tester", model, tools: [add] }) };
  };

  test("keeps its session in a conversation", async () => {
    const server = await start({ script: [callAdd, "3.", "It was 3."] });
    const { client, runner, agent } = prepare(server);
    const session = new OpenAIConversationsSession({ client });
    await runner.run(agent, "1 + 2?", { session });
    const { finalOutput } = await runner.run(agent, "What was it?", { session });
    expect(finalOutput).toBe("It was 3.");
    expect(server.model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(await session.getItems()).toHaveLength(6);
    expect(await session.popItem()).toMatchObject({ role: "assistant" });
    expect(await session.getItems()).toHaveLength(5);
    await session.clearSession();
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("runs in a conversation of the server", async () => {
    const server = await start({ script: [callAdd, "3."] });
    const { client, runner, agent } = prepare(server);
    const { id: conversationId } = await client.conversations.create();
    const { finalOutput } = await runner.run(agent, "1 + 2?", { conversationId });
    expect(finalOutput).toBe("3.");
    const { data } = await client.conversations.items.list(conversationId, { order: "asc" });
    expect(data.map(({ type }) => type)).toEqual([
      "message",
      "function_call",
      "function_call_output",
      "message",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

async function started(
  store: "memory" | "sqlite",
  script: Parameters<typeof start>[0]["script"],
): Promise<{ server: TestServer; client: OpenAI }> {
  const config = { store: store === "memory" ? store : `sqlite:${join(await temporaryFolder(), "test.db")}` };
  const server = await start({ script, tools: serverTools, config });
  return { server, client: openaiClient(server) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rondo-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
