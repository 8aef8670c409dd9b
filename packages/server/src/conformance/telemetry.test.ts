// The spans of runs, as an OTLP receiver gets them from a real SDK.

import { createHash } from "node:crypto";
import { on, once } from "node:events";
import { openaiCompatible, tool } from "rondo";
import { startModelServer } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import { createLogger } from "../http/log.ts";
import { loadTelemetry } from "../run/telemetry.ts";
import { runWithCrashes } from "../run/testkit/crash.ts";
import { testFolder } from "./testkit/mcp-servers.ts";
import {
  add,
  callAdd,
  callerSpan,
  chatName,
  create,
  ended,
  named,
  only,
  runName,
  sdkPerTest,
  secret,
  startAll,
  startNode,
  traceId,
  traceparent,
} from "./testkit/telemetry.ts";

const sdk = sdkPerTest();

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
