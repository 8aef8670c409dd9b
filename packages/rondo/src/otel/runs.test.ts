// Spans of real runs: of query(), a Client, an agent and turns, against a model server on loopback.

import { trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type OtelSdk, type ReceivedSpan, startOtelSdk } from "../../../../test/support/otlp-receiver.ts";
import { setLogger } from "../error/logger.ts";
import { Agent, type AnyTool, Client, openaiCompatible, query, Turn, tool } from "../index.ts";
import { type ServerStep, startModelServer } from "../testing/index.ts";
import { otelTracer } from "./index.ts";

let sdk: OtelSdk;
beforeEach(async () => {
  sdk = await startOtelSdk();
  setLogger({ warn: () => {} });
});
afterEach(async () => {
  setLogger();
  await sdk[Symbol.asyncDispose]();
});

const secret = "xyzzy-secret";
const callAdd = { name: "add", input: { a: 1, b: 2 } };
const own = (name: string) => trace.getTracer("mine").startActiveSpan(name, (span) => span.end());

const add = tool("add", "Adds.", { a: Number, b: Number }, async ({ a, b }) => {
  await new Promise((resolve) => setImmediate(resolve));
  own("inside add");
  return `${a + b} ${secret}`;
});

async function startModel(script: ServerStep | readonly ServerStep[]) {
  const server = await startModelServer(script);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const options = (tools: AnyTool[] = [add]) => ({
    baseURL: server.url,
    model: "test-model",
    tools,
    autoExecuteTools: true,
    retry: { delayMs: 1 },
    onTrace: otelTracer(),
  });
  return { server, options };
}

/** Each span by its name, with the name of its parent. */
function tree(spans: readonly ReceivedSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(({ name, parentSpanId }) => `${name} < ${names.get(parentSpanId ?? "") ?? "-"}`)
    .toSorted();
}

test("a query with a retry and a tool is one tree, below the current span", async () => {
  const { server, options } = await startModel([{ status: 503 }, { calls: [callAdd] }, { text: "Three." }]);
  const { text } = await trace.getTracer("mine").startActiveSpan("request", (span) =>
    query({ prompt: secret, options: options() })
      .result()
      .finally(() => span.end()),
  );
  expect(text).toBe("Three.");
  const spans = await sdk.exported();
  expect(tree(spans)).toEqual([
    "chat test-model < invoke_agent",
    "chat test-model < invoke_agent",
    "execute_tool add < invoke_agent",
    "inside add < execute_tool add",
    "invoke_agent < request",
    "request < -",
  ]);
  const chats = spans.filter(({ name }) => name === "chat test-model");
  expect(chats[0]?.events.map(({ name }) => name)).toEqual([
    "rondo.request.sent",
    "rondo.request.retried",
    "rondo.request.sent",
    "rondo.model.accepted",
    "rondo.model.started",
  ]);
  const sent = server.requests.map(({ headers }) => headers["traceparent"]);
  const [first, second] = chats.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  expect(sent).toEqual([first, first, second]);
  expect(sdk.openSpans).toBe(0);
  expect(sdk.receiver.bodies.join()).not.toContain(secret);
});

test("requests to the model are sent within its chat, for instrumentations of HTTP", async () => {
  const { server } = await startModel({ text: "Hello." });
  const model = openaiCompatible({
    baseURL: server.url,
    model: "test-model",
    fetch: (url, init) => {
      own("POST");
      return fetch(url, init);
    },
  });
  await query({ prompt: "Hi", options: { model, onTrace: otelTracer() } }).result();
  expect(tree(await sdk.exported())).toContain("POST < chat test-model");
});

test("queries at the same time with one tracer have a trace each", async () => {
  const { options } = await startModel({ text: "Hello." });
  const shared = options();
  await Promise.all(Array.from({ length: 5 }, () => query({ prompt: "Hi", options: shared }).result()));
  const spans = await sdk.exported();
  expect(tree(spans)).toEqual([
    ...Array.from({ length: 5 }, () => "chat test-model < invoke_agent"),
    ...Array.from({ length: 5 }, () => "invoke_agent < -"),
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(5);
});

describe("no span stays open", () => {
  const stalled = { text: "Half ", stall: true } as const;

  test("after leaving in the middle of an answer", async () => {
    const { options } = await startModel(stalled);
    await using client = new Client(options());
    await client.query("Hi");
    for await (const block of client.receiveMessages()) if (block.type === "text") break;
    expect(sdk.openSpans).toBe(0);
    expect(tree(await sdk.exported())).toEqual(["chat test-model < invoke_agent", "invoke_agent < -"]);
  });

  test("after leaving in a streaming tool, whose own spans are in its turn", async () => {
    const counts = tool("counts", "Counts.", {}, async function* () {
      for (let count = 0; ; count += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        own(`count ${count}`);
        yield count;
      }
    });
    const turn = new Turn(counts, {});
    for await (const value of turn.yielding({ tracer: otelTracer() })) if (value === 2) break;
    expect(sdk.openSpans).toBe(0);
    const spans = await sdk.exported();
    expect(tree(spans)).toContain("count 1 < execute_tool counts");
    expect(spans.find(({ name }) => name === "execute_tool counts")?.attributes).toMatchObject({
      "rondo.turn.progress_count": 3,
    });
  });

  test("after an abort, a failing tool and a model that fails", async () => {
    const breaks = tool("breaks", "Breaks.", {}, () => {
      throw new Error(secret);
    });
    const { server, options } = await startModel([
      { calls: [{ name: "breaks", input: {} }] },
      { status: 400, body: secret },
      stalled,
    ]);
    const failed = query({ prompt: "Hi", options: options([breaks]) }).result();
    await expect(failed).rejects.toThrow("400");
    const controller = new AbortController();
    const aborted = query({ prompt: "Hi", options: { ...options(), signal: controller.signal } }).result();
    await server.request(2);
    controller.abort();
    await aborted.catch(() => {});
    expect(sdk.openSpans).toBe(0);
    const spans = await sdk.exported();
    const tool400 = spans.find(({ name }) => name === "execute_tool breaks");
    expect(tool400).toMatchObject({ status: { code: 2 } });
    const errors = spans.filter(({ status }) => status.code === 2).map(({ name }) => name);
    expect(errors).toContain("invoke_agent");
    expect(sdk.receiver.bodies.join()).not.toContain(secret);
  });
});

test("an agent's thinking and tools are below its name", async () => {
  const { server } = await startModel([{ calls: [callAdd] }, { text: "Three." }]);
  const model = openaiCompatible({ baseURL: server.url, model: "test-model" });
  const agent = new Agent({ name: "thinker", model, tools: [add], onTrace: otelTracer() });
  await agent.ask("What is 1 + 2?");
  for await (const _ of agent.run());
  expect(sdk.openSpans).toBe(0);
  const lines = tree(await sdk.exported());
  expect(lines).toContain("invoke_agent thinker < -");
  expect(lines.filter((line) => line.startsWith("chat test-model < "))).toHaveLength(2);
  expect(lines).toContain("inside add < execute_tool add");
});
