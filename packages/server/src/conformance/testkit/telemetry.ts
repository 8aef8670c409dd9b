// What the tests of spans share: an SDK for each test, a server whose spans it exports, and a caller with a trace.

import { trace } from "@opentelemetry/api";
import { type AnyTool, tool } from "rondo";
import { type ModelServer, type ServerStep, startModelServer } from "rondo/testing";
import { afterEach, beforeEach, expect, onTestFinished } from "vitest";
import { type OtelSdk, type ReceivedSpan, startOtelSdk } from "../../../../../test/support/otlp-receiver.ts";
import type { ConfigInput } from "../../config/schema.ts";
import type { Logger } from "../../http/log.ts";
import { type RunningServer, startServer } from "../../http/server.ts";

/** The trace context that the client sends. */
export const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
export const callerSpan = "00f067aa0ba902b7";
export const traceparent = `00-${traceId}-${callerSpan}-01`;

/** In what is said, and in no span unless content is asked for. */
export const secret = "xyzzy-secret";

export const runName = "invoke_agent rondo";
export const chatName = "chat test-model";

/** Starts an SDK before each test of this file, and stops it after the test. */
export function sdkPerTest(): Pick<OtelSdk, "receiver" | "openSpans" | "exported"> {
  let sdk: OtelSdk;
  beforeEach(async () => {
    sdk = await startOtelSdk();
  });
  afterEach(() => sdk[Symbol.asyncDispose]());
  return {
    get receiver() {
      return sdk.receiver;
    },
    get openSpans() {
      return sdk.openSpans;
    },
    exported: () => sdk.exported(),
  };
}

export const add = tool("add", "Adds.", { a: Number, b: Number, note: String }, ({ a, b, note }) => {
  // A user's own instrumentation.
  trace.getTracer("mine").startActiveSpan("my work", (span) => span.end());
  return `${a + b} ${note}`;
});
export const callAdd = { name: "add", input: { a: 1, b: 2, note: secret } };

interface Setup {
  readonly script: ServerStep | readonly ServerStep[];
  readonly tools?: readonly AnyTool[];
  readonly config?: ConfigInput;
  readonly logger?: Logger;
}

/** A scripted model server, and a Rondo server in front of it. */
export async function startAll({ script, tools = [add], config, logger }: Setup) {
  const models = await startModelServer(script);
  onTestFinished(() => models[Symbol.asyncDispose]());
  const server = await startNode(models, tools, config, logger);
  return { models, server, create: (body: object, headers = {}) => create(server, body, headers) };
}

export async function startNode(
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

export async function create(server: RunningServer, body: object, headers: Record<string, string> = {}) {
  const reply = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "test", input: `Hi ${secret}`, ...body }),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: text.startsWith("{") ? JSON.parse(text) : undefined };
}

/** Resolves when the response ended. */
export async function ended(server: RunningServer, id: string): Promise<void> {
  await fetch(`${server.url}/v1/responses/${id}?stream=true`).then((reply) => reply.text());
}

export function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] {
  return spans.filter((span) => span.name === name);
}

export function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = named(spans, name);
  expect(found.map((span) => span.name)).toEqual([name]);
  return found[0] as ReceivedSpan;
}
