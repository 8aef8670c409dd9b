// The chat-completions API as real clients use it: passed through to a model server, and answered by a model that
// is code.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import type OpenAI from "openai";
import { type ModelServer, type ServerStep, startModelServer } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import type { ConfigInput } from "../config/schema.ts";
import { openaiClient } from "./testkit/openai-clients.ts";
import { start, type TestServer } from "./testkit/start.ts";

const messages = [{ role: "user" as const, content: "Hi." }];
const add = {
  type: "function" as const,
  function: {
    name: "add",
    description: "Adds.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
  },
};
const callAdd = { calls: [{ name: "add", input: { a: 1, b: 2 } }] };

interface Passing {
  readonly upstream: ModelServer;
  readonly server: TestServer;
  readonly client: OpenAI;
}

/** A server in front of a model server, whose model has another name there. */
async function passing(
  script: ServerStep | readonly ServerStep[],
  config: ConfigInput = {},
): Promise<Passing> {
  const upstream = await startModelServer(script);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const models = { test: { url: upstream.url, model: "test-model", apiKey: "sk-upstream" } };
  const server = await start({ script: [], config: { models, ...config } });
  return { upstream, server, client: openaiClient(server) };
}

describe("a model that is code", () => {
  test("answers plain and streamed, with its tokens", async () => {
    const server = await start({ script: ["Hello.", { text: ["Hel", "lo."] }] });
    const client = openaiClient(server);
    const plain = await client.chat.completions.create({ model: "test", messages });
    expect(plain).toMatchObject({
      object: "chat.completion",
      model: "test",
      choices: [{ message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      usage: { total_tokens: expect.any(Number) },
    });
    const stream = client.chat.completions.stream({
      model: "test",
      messages,
      stream_options: { include_usage: true },
    });
    const whole = await stream.finalChatCompletion();
    expect(whole.choices[0]?.message.content).toBe("Hello.");
    expect(whole.usage?.total_tokens).toEqual(expect.any(Number));
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test.each([false, true])("calls tools and reads their results (streamed: %s)", async (isStreamed) => {
    const server = await start({ script: [callAdd, "3."] });
    const client = openaiClient(server);
    const ask = (body: OpenAI.ChatCompletionCreateParamsNonStreaming) =>
      isStreamed
        ? client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
        : client.chat.completions.create(body);
    const first = await ask({ model: "test", messages, tools: [add], tool_choice: "required" });
    const [choice] = first.choices;
    const [call] = choice?.message.tool_calls ?? [];
    expect([choice?.finish_reason, call]).toMatchObject([
      "tool_calls",
      { type: "function", function: { name: "add" } },
    ]);
    const { role, content, tool_calls: calls = [] } = choice?.message ?? { role: "assistant", content: null };
    const result = { role: "tool" as const, tool_call_id: call?.id ?? "", content: "3" };
    const second = await ask({
      model: "test",
      messages: [...messages, { role, content, tool_calls: calls }, result],
      tools: [add],
    });
    expect(second.choices[0]?.message.content).toBe("3.");
    expect(server.model.requests[0]).toMatchObject({ toolChoice: "required", tools: [add] });
    expect(server.model.requests[1]?.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "tool",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("is told all that the library has a word for", async () => {
    const server = await start({ script: ["{}"] });
    await openaiClient(server).chat.completions.create({
      model: "test",
      messages: [
        { role: "developer", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
          ],
        },
      ],
      temperature: 0.5,
      max_completion_tokens: 9,
      stop: "END",
      response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
    });
    expect(server.model.requests[0]).toMatchObject({
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: [{ type: "text" }, { type: "image_url" }] },
      ],
      output: { name: "a", schema: { type: "object" } },
      settings: { temperature: 0.5, maxTokens: 9, stop: ["END"] },
    });
  });

  test("that fails is an error, before the stream and in it", async () => {
    const error = new Error("Broken.");
    const server = await start({ script: [{ error }, { error }, { text: ["Half"], error }] });
    const client = openaiClient(server);
    const ask = () => client.chat.completions.create({ model: "test", messages, stream: true });
    await expect(client.chat.completions.create({ model: "test", messages })).rejects.toMatchObject({
      status: 500,
    });
    await expect(ask()).rejects.toMatchObject({ status: 500 });
    const stream = await ask();
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: "server_error" });
  });

  test("is left when its client leaves", async () => {
    const server = await start({ script: [{ text: ["Half", new Promise(() => {})] }] });
    const stream = await openaiClient(server).chat.completions.create({
      model: "test",
      messages,
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "Half") break;
    const request = await server.model.request(0);
    await expect.poll(() => request.signal?.aborted).toBe(true);
  });

  test("refuses what is wrong, and names the field", async () => {
    const server = await start({ script: [] });
    const client = openaiClient(server);
    const wrong = (body: object) =>
      client.chat.completions.create({ model: "test", messages, ...body } as never);
    await expect(wrong({ messages: [] })).rejects.toMatchObject({ status: 400, param: "messages" });
    await expect(wrong({ messages: [{ role: "user" }] })).rejects.toMatchObject({
      status: 400,
      param: "messages[0].content",
    });
    await expect(wrong({ n: 2 })).rejects.toMatchObject({ status: 400, param: "n" });
    await expect(
      wrong({ tools: [add], tool_choice: { type: "function", function: { name: "other" } } }),
    ).rejects.toMatchObject({ status: 400, param: "tool_choice" });
    await expect(wrong({ model: "other" })).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});

describe("a model of a model server", () => {
  test("is asked by its own name there, with the server's key, and with all that the client has sent", async () => {
    const { upstream, server } = await passing([{ body: { any: "thing" } }]);
    const response = await server.fetch(`${server.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-client" },
      body: JSON.stringify({ model: "test", messages, unheard_of: { deep: [1, null] } }),
    });
    expect(await response.json()).toEqual({ any: "thing" });
    expect(upstream.requests[0]?.body).toEqual({
      model: "test-model",
      messages,
      unheard_of: { deep: [1, null] },
    });
    expect(upstream.requests[0]?.headers["authorization"]).toBe("Bearer sk-upstream");
  });

  test("gets and gives every byte as it is where the name is the same", async () => {
    const sent = '{ "model": "same",\n "messages": [], "seed": 12345678901234567890, "temperature": 1.0 }';
    const given = [Buffer.from('data: {"half'), Buffer.from([0xff, 0x0a]), Buffer.from(":\r\n\r\n: end\n\n")];
    const received = Promise.withResolvers<string>();
    const upstream = createServer((request, response) => {
      received.resolve(text(request));
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of given) response.write(piece);
      response.end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void upstream.close());
    await once(upstream, "listening");
    const { port } = upstream.address() as AddressInfo;
    const config = { models: { same: { url: `http://127.0.0.1:${port}/v1` } } };
    const server = await start({ script: [], config });
    const response = await fetch(`${server.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: sent,
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat(given));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await received.promise).toBe(sent);
  });

  test("streams through the openai package, with tools", async () => {
    const { client } = await passing([callAdd, { text: ["Hel", "lo."] }]);
    const body = { model: "test", messages, tools: [add] };
    const called = await client.chat.completions.stream(body).finalChatCompletion();
    expect(called.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "add" } }]);
    const stream = await client.chat.completions.create({ ...body, stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content).join("")).toBe("Hello.");
  });

  test.each([
    { name: "400", answer: { status: 400 }, status: 400, code: "model_request" },
    { name: "401", answer: { status: 401 }, status: 502, code: "model_auth" },
    { name: "403", answer: { status: 403 }, status: 502, code: "model_auth" },
    { name: "404", answer: { status: 404 }, status: 404, code: "model_not_found" },
    { name: "500", answer: { status: 500 }, status: 502, code: "model_server" },
    { name: "a hang-up", answer: { hangUp: true }, status: 503, code: "model_unreachable" },
  ])("that answers with $name is an error as elsewhere", async ({ answer, status, code }) => {
    const { client } = await passing(answer);
    const body = { model: "test", messages };
    await expect(client.chat.completions.create(body)).rejects.toMatchObject({ status, code });
    await expect(client.chat.completions.create({ ...body, stream: true })).rejects.toMatchObject({
      status,
      code,
    });
  });

  test("that wants others to wait says how long, and no key is told to anyone", async () => {
    const said = { error: { message: "Slow down, sk-upstream!" } };
    const { server } = await passing([
      { status: 429, headers: { "retry-after": "7" }, body: said },
      { status: 401, body: said },
    ]);
    const ask = () =>
      server.fetch(`${server.baseURL}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "test", messages }),
      });
    const busy = await ask();
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await busy.text()).not.toContain("sk-upstream");
    const refused = await ask();
    expect(refused.status).toBe(502);
    expect(await refused.text()).not.toContain("sk-upstream");
  });

  test("that falls silent before its answer is a 504, and one that breaks off breaks off", async () => {
    const upstream = await startModelServer([
      { waitFor: new Promise(() => {}) },
      { text: ["a", "b"], drop: 2 },
    ]);
    onTestFinished(() => upstream[Symbol.asyncDispose]());
    const access = { url: upstream.url, model: "test-model" };
    const models = { silent: { ...access, idleTimeoutMs: 50 }, test: access };
    const client = openaiClient(await start({ script: [], config: { models } }));
    await expect(client.chat.completions.create({ model: "silent", messages })).rejects.toMatchObject({
      status: 504,
      code: "model_idle_timeout",
    });
    const stream = await client.chat.completions.create({ model: "test", messages, stream: true });
    await expect(Array.fromAsync(stream)).rejects.toThrow("terminated");
  });

  test.each([
    ["none for an answer that nobody streams", false, 0],
    ["one for a stream", true, 1],
  ])("has a limit of silence before its answer, though nobody has set one: %s", async (_, stream, count) => {
    const gate = Promise.withResolvers<void>();
    const { upstream, server } = await passing([{ waitFor: gate.promise, text: "Hi." }]);
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    const answer = server.fetch(`${server.baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test", messages, stream }),
    });
    await upstream.request(0);
    expect(timers.mock.calls.filter(([, ms]) => ms === 600_000)).toHaveLength(count);
    gate.resolve();
    expect(await (await answer).text()).toContain("Hi.");
  });

  test("is left when its client leaves, before the answer and in it", async () => {
    const { upstream, client } = await passing([
      { waitFor: new Promise(() => {}) },
      { text: ["Half"], stall: true },
    ]);
    const gone = new AbortController();
    const body = { model: "test", messages };
    const waiting = client.chat.completions.create(body, { signal: gone.signal });
    const first = await upstream.request(0);
    gone.abort();
    await expect(waiting).rejects.toThrow("aborted");
    await first.closed;
    const stream = await client.chat.completions.create({ ...body, stream: true });
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    const second = await upstream.request(1);
    await second.closed;
    expect([first.wasLeft, second.wasLeft]).toEqual([true, true]);
  });

  test("is kept behind the server's keys and limits", async () => {
    const key = "rk-secret";
    const hash = `sha256:${createHash("sha256").update(key).digest("hex")}`;
    const { server } = await passing([], {
      auth: { keys: [{ owner: "ada", hash }] },
      limits: { bodyBytes: 100 },
    });
    const ask = (authorization: string, body: string, type = "application/json") =>
      server
        .fetch(`${server.baseURL}/chat/completions`, {
          method: "POST",
          headers: { "content-type": type, authorization },
          body: JSON.stringify(body),
        })
        .then(({ status }) => status);
    expect(await ask("Bearer wrong", "{}")).toBe(401);
    expect(await ask(`Bearer ${key}`, "x".repeat(200))).toBe(413);
    expect(await ask(`Bearer ${key}`, "{}", "text/plain")).toBe(415);
  });
});

// Passed through, and answered by code.
describe.each(["a model server", "code"])("by %s", (kind) => {
  const begin = async (script: typeof callAdd | string, ...rest: (typeof callAdd | string)[]) => {
    if (kind === "code") return start({ script: [script, ...rest] });
    const steps = [script, ...rest].map((step) => (typeof step === "string" ? { text: step } : step));
    return (await passing(steps)).server;
  };

  test("LangChain's chat model works", async () => {
    const { baseURL, fetch } = await begin(callAdd);
    const chat = new ChatOpenAI({
      model: "test",
      apiKey: "none",
      maxRetries: 0,
      configuration: { baseURL, fetch },
    });
    const chunks = await Array.fromAsync(await chat.bindTools([add]).stream([new HumanMessage("1 + 2?")]));
    const answer = chunks.reduce((whole, chunk) => whole.concat(chunk));
    expect(answer.tool_calls).toMatchObject([{ name: "add", args: { a: 1, b: 2 } }]);
  });

  test("the AI SDK's chat model works, with its loop", async () => {
    const { baseURL, fetch } = await begin(callAdd, "3.");
    const result = streamText({
      model: createOpenAI({ baseURL, fetch, apiKey: "none" }).chat("test"),
      prompt: "1 + 2?",
      maxRetries: 0,
      stopWhen: stepCountIs(3),
      tools: {
        add: tool({
          description: "Adds.",
          inputSchema: z.object({ a: z.number(), b: z.number() }),
          execute: async ({ a, b }) => a + b,
        }),
      },
    });
    expect(await result.text).toBe("3.");
  });
});

test("the AI SDK's plain way works by code", async () => {
  const { baseURL, fetch } = await start({ script: ["Hello."] });
  const model = createOpenAI({ baseURL, fetch, apiKey: "none" }).chat("test");
  expect((await generateText({ model, prompt: "Hi.", maxRetries: 0 })).text).toBe("Hello.");
});
