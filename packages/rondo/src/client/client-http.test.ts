// The client against a real server on loopback: what happens to the socket, the tools and history.

import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { tool } from "../index.ts";
import { type ModelServer, startModelServer } from "../testing/index.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./client-options.ts";
import { query } from "./query.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", input: { a: 25, b: 17 } };

function clientOf(server: ModelServer, options: Partial<ClientOptions> = {}): Client {
  return new Client({ baseURL: server.url, model: "test-model", tools: [add], retry: false, ...options });
}

async function answerOf(client: Client): Promise<string> {
  let text = "";
  for await (const block of client.receiveMessages()) if (block.type === "text") text += block.text;
  return text;
}

async function refusalOf(options: Partial<ClientOptions>): Promise<unknown> {
  const client = new Client({ model: "test-model", retry: false, ...options });
  const refusal: unknown = await client.query("Hi").then(
    () => answerOf(client),
    (error: unknown) => error,
  );
  expect(client.history).toEqual([]);
  return refusal;
}

test("a conversation with tools over HTTP, split anywhere", async () => {
  await using server = await startModelServer([
    { text: "So. ", calls: [callAdd, callAdd], splitBytes: 7 },
    { text: ["It is ", "42."], splitBytes: 3, usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 } },
  ]);
  await using client = clientOf(server, { autoExecuteTools: true, systemPrompt: "Be brief." });
  await client.query("What is 25 + 17?");
  expect(await answerOf(client)).toBe("So. It is 42.");
  expect(server.requests[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
  ]);
  expect(client.usage).toMatchObject({ totalTokens: 8 });
});

describe("the socket is closed, and history keeps what was received", () => {
  const stalled = { text: "Half ", stall: true } as const;

  test("by a break", async () => {
    await using server = await startModelServer([stalled]);
    const client = clientOf(server);
    await client.query("Hi");
    for await (const _ of client.receiveMessages()) break;
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
  });

  test("by interrupt(), from elsewhere", async () => {
    await using server = await startModelServer([stalled, { text: "Whole." }]);
    const client = clientOf(server);
    await client.query("Hi");
    const answer = answerOf(client);
    await client.interrupt();
    await answer;
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
    await client.query("Again");
    expect(await answerOf(client)).toBe("Whole.");
  });

  test("by interrupt() before the first byte", async () => {
    await using server = await startModelServer([{ stall: 0 }]);
    const client = clientOf(server);
    const asking = client.query("Hi");
    const request = await server.request(0);
    await client.interrupt();
    await Promise.all([asking, request.closed]);
    expect(request.wasLeft).toBe(true);
    expect(client.history).toEqual([]);
  });

  test("by leaving a query", async () => {
    await using server = await startModelServer([stalled]);
    const options = { baseURL: server.url, model: "test-model" };
    for await (const message of query({ prompt: "Hi", options })) if (message.type === "assistant") break;
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
  });

  test("by a signal", async () => {
    await using server = await startModelServer([stalled]);
    const controller = new AbortController();
    const client = clientOf(server, { signal: controller.signal });
    await client.query("Hi");
    for await (const _ of client.receiveMessages()) controller.abort();
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("by the idle limit", async () => {
    await using server = await startModelServer([stalled]);
    const client = clientOf(server, { idleTimeoutMs: 30 });
    await client.query("Hi");
    await expect(answerOf(client)).rejects.toMatchObject({ code: expect.stringContaining("timeout") });
    await server.requests[0]?.closed;
    expect(client.history.at(-1)).toEqual({ role: "assistant", content: "Half " });
  });

  test("by the limit of the whole request", async () => {
    await using server = await startModelServer([
      { text: Array.from({ length: 100 }, () => "x"), chunkDelayMs: 10 },
    ]);
    const client = clientOf(server, { timeoutMs: 400 });
    await client.query("Hi");
    await expect(answerOf(client)).rejects.toMatchObject({ code: expect.stringContaining("timeout") });
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
  });

  test("by the end of the process", async () => {
    await using server = await startModelServer([stalled]);
    const program = `
      import { Client } from "rondo";
      const client = new Client({ baseURL: ${JSON.stringify(server.url)}, model: "test-model" });
      await client.query("Hi");
      for await (const _ of client.receiveMessages()) process.exit(0);`;
    const child = spawn(process.execPath, [
      "--conditions=rondo-source",
      "--input-type=module",
      "--eval",
      program,
    ]);
    await once(child, "exit");
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(true);
  });

  test("by a server that disconnects", async () => {
    await using server = await startModelServer([{ text: ["Half ", "whole"], drop: 2 }]);
    const client = clientOf(server);
    await client.query("Hi");
    await expect(answerOf(client)).rejects.toMatchObject({ endpoint: expect.stringContaining(server.url) });
    expect(client.history[0]).toEqual({ role: "user", content: "Hi" });
  });
});

describe("a typed error with the endpoint and a hint, and history unchanged", () => {
  test("for an unreachable server", async () => {
    const server = await startModelServer([]);
    await server.close();
    expect(await refusalOf({ baseURL: server.url })).toMatchObject({
      name: "ModelConnectionError",
      message: expect.stringContaining(server.url.replace("/v1", "")),
    });
  });

  test.each([
    [
      "an unknown model",
      { status: 404, body: { error: { message: "model not found" } } },
      "ModelNotFoundError",
    ],
    ["a key that is refused", { status: 401 }, "ModelAuthError"],
    [
      "an HTML page",
      { body: "<!doctype html><html><body>Hello</body></html>", headers: { "content-type": "text/html" } },
      "UnexpectedAnswerError",
    ],
    ["an empty answer", { raw: [] }, "EmptyAnswerError"],
    ["a server that fails", { status: 500 }, "ModelServerError"],
  ])("for %s", async (_what, answer, name) => {
    await using server = await startModelServer([answer]);
    const error = await refusalOf({ baseURL: server.url });
    expect(error).toMatchObject({
      name,
      code: expect.any(String),
      endpoint: expect.stringContaining("127.0.0.1"),
    });
  });

  test("for a wrong URL, when the client is made", () => {
    expect(() => new Client({ baseURL: "localhost:11434", model: "m" })).toThrow("baseURL");
    expect(() => new Client({ baseURL: "ftp://localhost", model: "m" })).toThrow("baseURL");
    expect(() => new Client({ baseURL: "http://localhost:1", model: "" })).toThrow("model");
  });
});
