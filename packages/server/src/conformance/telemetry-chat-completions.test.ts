// The spans of chat completions, which go to a model without a run.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import type { RunningServer } from "../http/server.ts";
import {
  callerSpan,
  chatName,
  named,
  only,
  sdkPerTest,
  secret,
  startAll,
  traceId,
  traceparent,
} from "./testkit/telemetry.ts";

const sdk = sdkPerTest();

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
