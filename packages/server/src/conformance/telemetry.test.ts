// The spans of runs, as an OTLP receiver gets them from a real SDK, and trace context in and out.

import { createHash } from "node:crypto";
import { on, once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { trace } from "@opentelemetry/api";
import { type AnyTool, openaiCompatible, tool } from "rondo";
import { type ModelServer, type ServerStep, scriptedModel, startModelServer } from "rondo/testing";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { type OtelSdk, type ReceivedSpan, startOtelSdk } from "../../../../test/support/otlp-receiver.ts";
import type { ConfigInput } from "../config/schema.ts";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import { createLogger, type Logger } from "../http/log.ts";
import { type RunningServer, startServer } from "../http/server.ts";
import { loadTelemetry } from "../run/telemetry.ts";
import { runWithCrashes } from "../run/testkit/crash.ts";
import { testFolder } from "./testkit/mcp-servers.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpan = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerSpan}-01`;
const secret = "xyzzy-secret";

let sdk: OtelSdk;
beforeEach(async () => {
  sdk = await startOtelSdk();
});
afterEach(() => sdk[Symbol.asyncDispose]());

const add = tool("add", "Adds.", { a: Number, b: Number, note: String }, ({ a, b, note }) => {
  // A user's own instrumentation.
  trace.getTracer("mine").startActiveSpan("my work", (span) => span.end());
  return `${a + b} ${note}`;
});
const callAdd = { name: "add", input: { a: 1, b: 2, note: secret } };

interface Setup {
  readonly script: ServerStep | readonly ServerStep[];
  readonly tools?: readonly AnyTool[];
  readonly config?: ConfigInput;
  readonly logger?: Logger;
}

async function startAll({ script, tools = [add], config, logger }: Setup) {
  const models = await startModelServer(script);
  onTestFinished(() => models[Symbol.asyncDispose]());
  const server = await startNode(models, tools, config, logger);
  return { models, server, create: (body: object, headers = {}) => create(server, body, headers) };
}

async function startNode(
  models: ModelServer,
  tools: readonly AnyTool[],
  config: ConfigInput = {},
  logger?: Logger,
) {
  const settings: ConfigInput = {
    port: 0,
    store: "memory",
    models: { test: { url: models.url, model: "test-model" } },
    tools: [...tools],
    log: { level: "silent" },
    telemetry: { otel: true },
    shutdownMs: 0,
    ...config,
  };
  const server = await startServer(settings, logger && { logger });
  onTestFinished(() => server.close());
  return server;
}

async function create(server: RunningServer, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "test", input: `Hi ${secret}`, ...body }),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: text.startsWith("{") ? JSON.parse(text) : undefined };
}

async function ended(server: RunningServer, id: string, headers: Record<string, string> = {}): Promise<void> {
  await fetch(`${server.url}/v1/responses/${id}?stream=true`, { headers }).then((reply) => reply.text());
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] {
  return spans.filter((span) => span.name === name);
}

function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = named(spans, name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as ReceivedSpan;
}

const runName = "invoke_agent rondo";
const chatName = "chat test-model";

describe("a run in the foreground", () => {
  test("is a child of the client's span, and the model server's parent is the chat", async () => {
    const script = [{ status: 503 }, { calls: [callAdd] }, { text: secret }] as const;
    const { models, create } = await startAll({ script });
    const { body } = await create(
      { previous_response_id: undefined },
      { traceparent, tracestate: "vendor=1" },
    );
    expect(body.status).toBe("completed");
    const spans = await sdk.exported();
    const run = only(spans, runName);
    expect(run).toMatchObject({ traceId, parentSpanId: callerSpan, links: [] });
    expect(run.attributes).toMatchObject({
      "gen_ai.response.id": body.id,
      "gen_ai.request.model": "test",
      "rondo.run.reason": "completed",
      "gen_ai.usage.input_tokens": body.usage.input_tokens,
    });
    const chats = named(spans, chatName);
    expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId]);
    expect(chats[0]?.events.map(({ name }) => name)).toContain("rondo.request.retried");
    const turn = only(spans, "execute_tool add");
    expect(turn.parentSpanId).toBe(run.spanId);
    expect(only(spans, "my work").parentSpanId).toBe(turn.spanId);
    const asked = models.requests.map(({ headers }) => headers["traceparent"]);
    const [first, second] = chats.map(({ spanId }) => `00-${traceId}-${spanId}-01`);
    expect(asked).toEqual([first, first, second]);
    expect(models.requests[0]?.headers["tracestate"]).toBe("vendor=1");
    expect(sdk.openSpans).toBe(0);
    const text = sdk.receiver.bodies.join();
    expect(text).toContain(body.id);
    expect(text).not.toContain(secret);
  });

  test("over a WebSocket, is a child of the span that opened it", async () => {
    const { server } = await startAll({ script: { text: "Hello." } });
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/responses`, {
      headers: { traceparent },
    });
    await once(socket, "open");
    socket.send(JSON.stringify({ type: "response.create", model: "test", input: "Hi" }));
    for await (const [data] of on(socket, "message"))
      if (String(data).includes('"response.completed"')) break;
    socket.close();
    await server.close();
    expect(only(await sdk.exported(), runName)).toMatchObject({ traceId, parentSpanId: callerSpan });
  });

  test("with content, has what was said; never the owner", async () => {
    const key = "key-of-ada-0123456789";
    const hash = `sha256:${createHash("sha256").update(key).digest("hex")}`;
    const auth = { keys: [{ owner: "ada-lovelace", hash }] };
    const config = { telemetry: { otel: true, content: true, openInference: true }, auth };
    const { create } = await startAll({ script: [{ calls: [callAdd] }, { text: "Done." }], config });
    const { body } = await create({}, { authorization: `Bearer ${key}` });
    expect(body.status).toBe("completed");
    const [chat] = named(await sdk.exported(), chatName);
    expect(chat?.attributes["gen_ai.input.messages"]).toContain(secret);
    expect(chat?.attributes["openinference.span.kind"]).toBe("LLM");
    const text = sdk.receiver.bodies.join();
    expect(text).not.toContain("ada-lovelace");
    expect(text).not.toContain(key);
  });

  test("that fails, says with which error, and nothing stays open", async () => {
    const { create } = await startAll({ script: { status: 400, body: secret } });
    expect((await create({}, { traceparent })).status).toBeGreaterThanOrEqual(400);
    const spans = await sdk.exported();
    expect(only(spans, runName)).toMatchObject({ status: { code: 2 } });
    expect(only(spans, chatName)).toMatchObject({ status: { code: 2 } });
    expect(only(spans, runName).attributes["error.type"]).toEqual(expect.any(String));
    expect(sdk.openSpans).toBe(0);
    expect(sdk.receiver.bodies.join()).not.toContain(secret);
  });

  test("whose client leaves in the middle, or in a tool, leaves no span open", async () => {
    const arrived = Promise.withResolvers<void>();
    const waits = tool("waits", "Waits.", {}, (_input, { signal }) => {
      arrived.resolve();
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    });
    const script = [{ calls: [{ name: "waits", input: {} }] }, { text: "Half ", stall: true }] as const;
    const { server, models } = await startAll({ script, tools: [waits] });
    const leave = async (when: Promise<unknown>) => {
      const controller = new AbortController();
      const body = JSON.stringify({ model: "test", input: "Hi", stream: true });
      const headers = { "content-type": "application/json" };
      const reply = fetch(`${server.url}/v1/responses`, {
        method: "POST",
        headers,
        body,
        signal: controller.signal,
      });
      await when;
      await reply;
      controller.abort();
    };
    await leave(arrived.promise);
    await leave(models.request(1));
    await server.close();
    expect(sdk.openSpans).toBe(0);
    const reasons = named(await sdk.exported(), runName).map(
      ({ attributes }) => attributes["rondo.run.reason"],
    );
    expect(reasons).toEqual(["cancelled", "cancelled"]);
  });
});

describe("a run in the background", () => {
  test("has a trace of its own, linked to the request", async () => {
    const { server, models, create } = await startAll({ script: [{ calls: [callAdd] }, { text: "Done." }] });
    const { body } = await create({ background: true }, { traceparent });
    await ended(server, body.id);
    await server.close();
    const spans = await sdk.exported();
    const run = only(spans, runName);
    expect(run.parentSpanId).toBeUndefined();
    expect(run.traceId).not.toBe(traceId);
    expect(run.links).toEqual([{ traceId, spanId: callerSpan }]);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([run.traceId]));
    expect(models.requests[0]?.headers["traceparent"]).toContain(run.traceId);
    expect(sdk.openSpans).toBe(0);
    // It is nothing that clients see.
    expect(JSON.stringify(body)).not.toContain(traceId);
  });

  test("that goes on in another process, is linked to its earlier start", async () => {
    const folder = await testFolder();
    const store = `sqlite:${folder}/rondo.db`;
    const script = [{ calls: [callAdd] }, { text: "Half ", stall: true }, { text: "Done." }] as const;
    const models = await startModelServer(script);
    onTestFinished(() => models[Symbol.asyncDispose]());
    const first = await startNode(models, [add], { store });
    const { body } = await create(first, { background: true }, { traceparent });
    await models.request(1);
    await first.close();
    expect(sdk.openSpans).toBe(0);
    const second = await startNode(models, [add], { store });
    await ended(second, body.id);
    await second.close();
    expect(sdk.openSpans).toBe(0);
    const [before, after] = named(await sdk.exported(), runName);
    expect(before?.attributes["rondo.run.reason"]).toBe("interrupted");
    expect(after?.attributes["rondo.run.reason"]).toBe("completed");
    expect(after?.parentSpanId).toBeUndefined();
    expect(after?.links).toEqual([
      { traceId, spanId: callerSpan },
      { traceId: before?.traceId, spanId: before?.spanId },
    ]);
  });

  test("whose process died, is linked to the span that never ended", async () => {
    const telemetry = await loadTelemetry({ content: false, openInference: false });
    const begun: string[] = [];
    const noting = {
      ...telemetry,
      begin: (run: Parameters<typeof telemetry.begin>[0]) => {
        const span = telemetry.begin(run);
        begun.push(span.context?.traceparent.split("-")[2] ?? "");
        return span;
      },
    };
    const script = [{ calls: [{ id: "c", name: "look", input: { n: 1 } }] }, { text: ["Done."] }];
    const { cuts } = await runWithCrashes({ script, telemetry: noting }, [{ at: 2, isKept: true }]);
    expect(cuts).toBe(1);
    const run = only(await sdk.exported(), runName);
    expect(begun[1]).toBe(run.spanId);
    expect(run.links.map(({ spanId }) => spanId)).toEqual([begun[0]]);
    expect(run.attributes["rondo.attempt"]).toBe(2);
  });
});

test("where the HTTP server is instrumented, its span is the parent, and not the client's", async () => {
  const telemetry = await loadTelemetry({ content: false, openInference: false });
  trace.getTracer("http").startActiveSpan("POST", (span) => {
    const { traceId: current, spanId } = span.spanContext();
    expect(telemetry.callerOf({ traceparent })).toEqual({ traceparent: `00-${current}-${spanId}-01` });
    span.end();
  });
  expect(telemetry.callerOf({ traceparent })).toEqual({ traceparent });
});

test.each([
  ["garbage", "hello"],
  ["zeros", `00-${"0".repeat(32)}-${"0".repeat(16)}-00`],
  ["huge", `cc-${traceId}-${callerSpan}-01-${"a".repeat(8000)}`],
  ["two", `${traceparent}, ${traceparent}`],
])("a traceparent that is %s begins a new trace", async (_what, value) => {
  const { create } = await startAll({ script: { text: "Hello." } });
  const { status } = await create({}, { traceparent: value, tracestate: `=,${"x".repeat(2000)}` });
  expect(status).toBe(200);
  const run = only(await sdk.exported(), runName);
  expect(run.parentSpanId).toBeUndefined();
  expect(run.traceId).not.toBe(traceId);
});

test("an MCP server gets the span of its turn, in the message and in the headers", async () => {
  const notebook = await startNotebook();
  const { create } = await startAll({
    script: [{ calls: [{ name: "look", input: { n: 1 } }] }, { text: "Done." }],
    config: { mcp: { servers: { notes: { url: notebook.url } } } },
  });
  expect((await create({}, { traceparent })).body.status).toBe("completed");
  const turn = (await sdk.exported()).find(({ name }) => name.startsWith("execute_tool"));
  const expected = `00-${traceId}-${turn?.spanId}-01`;
  expect(notebook.metas).toMatchObject([{ traceparent: expected }]);
  const sent = notebook.headers
    .map((headers) => headers.get("traceparent"))
    .filter((value) => value !== null);
  expect(sent).toEqual([expected]);
});

test("a call by hand has a span, a child of the client's, and passes it on", async () => {
  const notebook = await startNotebook();
  const { server } = await startAll({
    script: [],
    config: { mcp: { servers: { notes: { url: notebook.url } } } },
  });
  const call = async (body: object) => {
    const headers = { "content-type": "application/json", traceparent };
    const reply = await fetch(`${server.url}/v1/tools/call`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await reply.json()) as { is_error: boolean };
  };
  const lookAt = (n: number) => ({ name: "look", server_label: "notes", arguments: { n } });
  expect(await call({ name: "add", arguments: callAdd.input })).toMatchObject({ is_error: false });
  expect(await call(lookAt(1))).toMatchObject({ is_error: false });
  expect(await call({ ...lookAt(1), name: "fail" })).toMatchObject({ is_error: true });
  const spans = await sdk.exported();
  const turn = only(spans, "execute_tool add");
  expect(turn).toMatchObject({ traceId, parentSpanId: callerSpan });
  expect(only(spans, "my work").parentSpanId).toBe(turn.spanId);
  const looked = spans.find(({ name }) => name.startsWith("execute_tool") && name.endsWith("look"));
  expect(notebook.metas[0]).toMatchObject({ traceparent: `00-${traceId}-${looked?.spanId}-01` });
  expect(sdk.openSpans).toBe(0);
  expect(sdk.receiver.bodies.join()).not.toContain(secret);
});

test("a model server that goes and comes back is in the events of the run", async () => {
  let isUp = false;
  const warnings: string[] = [];
  const models = await startModelServer(["Hello."]);
  onTestFinished(() => models[Symbol.asyncDispose]());
  const model = openaiCompatible({
    baseURL: models.url,
    model: "test-model",
    server: "vllm",
    retry: false,
    fetch: async (url, init) => {
      if (isUp) return fetch(url, init);
      throw Object.assign(new Error(`refused ${secret}`), { code: "ECONNREFUSED" });
    },
  });
  const log = createLogger({ write: (lines) => void warnings.push(lines) });
  const server = await startNode(models, [], { models: { test: model } }, log);
  const { body } = await create(server, { background: true });
  await vi.waitUntil(() => warnings.join().includes("waits for its model server"), { timeout: 10_000 });
  isUp = true;
  await ended(server, body.id);
  await server.close();
  const run = only(await sdk.exported(), runName);
  expect(run.events).toEqual(
    expect.arrayContaining([
      { name: "rondo.model.away", attributes: { "rondo.error": "model_unreachable" } },
      { name: "rondo.model.back", attributes: {} },
    ]),
  );
  expect(run.attributes["rondo.run.reason"]).toBe("completed");
  expect(sdk.openSpans).toBe(0);
});

test("an approval is an event of the run that asks, and of the one that goes on", async () => {
  const notebook = await startNotebook();
  const { create } = await startAll({
    script: [{ calls: [{ name: "look", input: { n: 1 } }] }, { text: "Done." }],
    config: { mcp: { servers: { notes: { url: notebook.url, requireApproval: "always" } } } },
  });
  const { body: first } = await create({}, { traceparent });
  const request = first.output.find(({ type }: { type: string }) => type === "mcp_approval_request");
  const input = [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }];
  await create({ input, previous_response_id: first.id });
  const [asking, going] = named(await sdk.exported(), runName);
  expect(asking?.events).toContainEqual({
    name: "rondo.approval.asked",
    attributes: { "rondo.call_id": expect.any(String), "rondo.tool": "look" },
  });
  expect(going?.events).toContainEqual({
    name: "rondo.approval.decided",
    attributes: { "rondo.call_id": request.id, "rondo.approved": true },
  });
  expect(going?.attributes["gen_ai.request.previous_response.id"]).toBe(first.id);
});

test("a summary of a conversation has spans, below the client's", async () => {
  const { server, models } = await startAll({ script: { text: "In short." } });
  const headers = { "content-type": "application/json", traceparent };
  const body = JSON.stringify({ model: "test", input: [{ role: "user", content: `Hi ${secret}` }] });
  const reply = await fetch(`${server.url}/v1/responses/compact`, { method: "POST", headers, body });
  expect(reply.status).toBe(200);
  const spans = await sdk.exported();
  const chat = only(spans, chatName);
  expect(only(spans, "invoke_agent")).toMatchObject({ traceId, parentSpanId: callerSpan });
  expect(models.requests[0]?.headers["traceparent"]).toBe(`00-${traceId}-${chat.spanId}-01`);
  expect(sdk.openSpans).toBe(0);
});

describe("a chat completion", () => {
  const ask = async (server: RunningServer, body: object, path = "chat/completions") => {
    const reply = await fetch(`${server.url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent },
      body: JSON.stringify({ model: "test", messages: [{ role: "user", content: secret }], ...body }),
    });
    return { status: reply.status, text: await reply.text() };
  };

  test.each([false, true])(
    "that is passed through is a span, without content (stream: %j)",
    async (stream) => {
      const { server, models } = await startAll({
        script: { text: secret },
        config: { telemetry: { otel: true } },
      });
      expect((await ask(server, { stream })).text).toContain(secret);
      const spans = await sdk.exported();
      const chat = only(spans, chatName);
      expect(spans).toHaveLength(1);
      expect(chat).toMatchObject({ traceId, parentSpanId: callerSpan });
      expect(chat.attributes).toMatchObject({
        "gen_ai.operation.name": "chat",
        "server.address": "127.0.0.1",
      });
      expect(chat.events.map(({ name }) => name)).toEqual([
        "rondo.request.sent",
        "rondo.model.accepted",
        "rondo.model.started",
      ]);
      expect(models.requests[0]?.headers["traceparent"]).toBe(`00-${traceId}-${chat.spanId}-01`);
      expect(sdk.openSpans).toBe(0);
      expect(sdk.receiver.bodies.join()).not.toContain(secret);
    },
  );

  test("that fails is a span with the error", async () => {
    const { server } = await startAll({ script: { status: 500 } });
    expect((await ask(server, {})).status).toBe(502);
    expect(only(await sdk.exported(), chatName)).toMatchObject({ status: { code: 2 } });
    expect(sdk.openSpans).toBe(0);
  });

  test("of a model without a server is a span with its tokens", async () => {
    using model = scriptedModel(["Hello.", "Hello again."]);
    const { server } = await startAll({ script: [], config: { models: { test: model } } });
    await ask(server, {});
    await ask(server, { stream: true });
    // It is refused before the model is asked.
    expect((await ask(server, { messages: [{ role: "nobody" }] })).status).toBe(400);
    const chats = named(await sdk.exported(), "chat test");
    expect(chats).toHaveLength(2);
    for (const { attributes, parentSpanId } of chats) {
      expect(parentSpanId).toBe(callerSpan);
      expect(attributes["gen_ai.response.finish_reasons"]).toEqual(["stop"]);
    }
    expect(sdk.openSpans).toBe(0);
  });

  test("in the older format keeps the client's trace context", async () => {
    const headers = Promise.withResolvers<IncomingHttpHeaders>();
    await using models = createServer((request, reply) => {
      headers.resolve(request.headers);
      reply.setHeader("content-type", "application/json").end("{}");
    }).listen(0, "127.0.0.1");
    await once(models, "listening");
    const url = `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`;
    const { server } = await startAll({ script: [], config: { models: { test: { url, model: "m" } } } });
    await ask(server, { prompt: "Hi" }, "completions");
    expect((await headers.promise)["traceparent"]).toBe(traceparent);
    expect(await sdk.exported()).toEqual([]);
  });
});

test("by default there are no spans, and no header goes out", async () => {
  const { models, create } = await startAll({ script: { text: "Hello." }, config: { telemetry: {} } });
  await create({}, { traceparent });
  expect(await sdk.exported()).toEqual([]);
  expect(models.requests[0]?.headers["traceparent"]).toBeUndefined();
});

test("without an SDK, there is a warning, and trace context goes on to the model server all the same", async () => {
  trace.disable();
  const warnings: string[] = [];
  const none = () => {};
  const warn = (message: string) => warnings.push(message);
  const logger = { debug: none, info: none, warn, error: none };
  const { models, create } = await startAll({ script: { text: "Hello." }, logger });
  expect(warnings).toEqual([expect.stringContaining("its spans go nowhere")]);
  await create({}, { traceparent });
  expect(models.requests[0]?.headers["traceparent"]).toBe(traceparent);
});
