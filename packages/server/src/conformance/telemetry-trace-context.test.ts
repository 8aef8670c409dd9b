// Trace context: whose span is the parent, and which span models and MCP servers receive.

import { trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import { loadTelemetry } from "../run/telemetry.ts";
import {
  callAdd,
  callerSpan,
  only,
  runName,
  sdkPerTest,
  secret,
  startAll,
  traceId,
  traceparent,
} from "./testkit/telemetry.ts";

const sdk = sdkPerTest();

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
