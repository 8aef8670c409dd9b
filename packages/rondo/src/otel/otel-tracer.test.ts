// Spans from lists of events, and from real runs, as an OTLP receiver gets them.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OtelSdk, type ReceivedSpan, startOtelSdk } from "../../../../test/support/otlp-receiver.ts";
import type { TraceEvent } from "../trace/trace.ts";
import { otelTracer } from "./index.ts";

let sdk: OtelSdk;
beforeEach(async () => {
  sdk = await startOtelSdk();
});
afterEach(() => sdk[Symbol.asyncDispose]());

type Untimed = TraceEvent extends infer E ? (E extends unknown ? Omit<E, "atMs"> : never) : never;

const startMs = 1_763_370_000_000;
const secret = "xyzzy-secret";

/** One event each 10 ms. */
function timed(events: readonly Untimed[]): TraceEvent[] {
  return events.map((event, index) => ({ ...event, atMs: startMs + index * 10 }));
}

const usage = { inputTokens: 12, outputTokens: 5, totalTokens: 17, cachedTokens: 4, reasoningTokens: 2 };
const asked = (answer: number): Untimed => ({
  type: "model.asked",
  answer,
  model: "qwen3:8b",
  endpoint: "http://127.0.0.1:11434/v1",
  messages: 2,
  tools: 1,
  contextWindow: 4096,
  request: () => ({
    messages: [
      { role: "system", content: `Be brief. ${secret}` },
      {
        role: "user",
        content: [
          { type: "text", text: `Hi ${secret}` },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c0", type: "function", function: { name: "add", arguments: `{"a":"${secret}"}` } },
        ],
      },
      { role: "tool", tool_call_id: "c0", content: secret },
    ],
    tools: [{ type: "function", function: { name: "add", description: secret, parameters: {} } }],
    settings: { temperature: 0.5, maxTokens: 100, topP: 0.9, seed: 7, stop: [secret] },
  }),
});

/** A run with a slot, a retry, a call that is rejected, and a tool. */
const wholeRun = timed([
  { type: "run.started", name: "helper" },
  asked(0),
  { type: "slot.awaited", answer: 0 },
  { type: "slot.taken", answer: 0 },
  {
    type: "request.sent",
    answer: 0,
    attempt: 1,
    url: "http://127.0.0.1:11434/v1/chat/completions",
    bytes: 100,
    isStream: true,
    body: () => secret,
  },
  {
    type: "request.retried",
    answer: 0,
    attempt: 1,
    waitMs: 250,
    error: { type: "ModelHttpError", message: secret },
  },
  {
    type: "request.sent",
    answer: 0,
    attempt: 2,
    url: "http://127.0.0.1:11434/v1/chat/completions",
    bytes: 100,
    isStream: true,
    body: () => secret,
  },
  { type: "model.accepted", answer: 0, status: 200 },
  { type: "model.started", answer: 0 },
  {
    type: "model.finished",
    answer: 0,
    finishReason: "tool_calls",
    usage,
    message: () => ({
      role: "assistant",
      content: secret,
      reasoning: secret,
      tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: `{"a":"${secret}"}` } }],
    }),
  },
  { type: "call.checked", answer: 0, callId: "c1", name: "add", decision: "run" },
  {
    type: "call.checked",
    answer: 0,
    callId: "c2",
    name: "rm",
    decision: "reject",
    reason: "unknown",
    error: secret,
  },
  { type: "turn.started", turnId: "t1", name: "add", callId: "c1", attempt: 1, input: () => ({ a: secret }) },
  { type: "lock.awaited", turnId: "t1" },
  { type: "lock.taken", turnId: "t1" },
  { type: "turn.progress", turnId: "t1", count: 3 },
  { type: "turn.finished", turnId: "t1", stopReason: "completed", output: () => ({ sum: secret }) },
  { type: "warning", message: secret, code: "odd" },
  { type: "run.finished", reason: "completed", usage },
]);

async function spansOf(events: readonly TraceEvent[], options: Parameters<typeof otelTracer>[0] = {}) {
  const tracer = otelTracer(options);
  for (const event of events) tracer.record(event);
  const spans = await sdk.exported();
  expect(sdk.openSpans).toBe(0);
  return { spans, text: sdk.receiver.bodies.join(), find: (name: string) => found(spans, name) };
}

function found(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = spans.find((it) => it.name === name);
  if (!span) throw new Error(`no span ${name} among ${spans.map((it) => it.name).join(", ")}`);
  return span;
}

describe("the spans of a run", () => {
  test("have the names, kinds, parents, times and attributes of the conventions", async () => {
    const { spans, find } = await spansOf(wholeRun, {
      facts: { conversationId: "conv_1", responseId: "resp_1" },
    });
    expect(spans).toHaveLength(3);
    const run = find("invoke_agent helper");
    const chat = find("chat qwen3:8b");
    const tool = find("execute_tool add");
    expect([run.parentSpanId, chat.parentSpanId, tool.parentSpanId]).toEqual([
      undefined,
      run.spanId,
      run.spanId,
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([run.kind, chat.kind, tool.kind]).toEqual([1, 3, 1]);
    expect(spans.map(({ status }) => status.code ?? 0)).toEqual([0, 0, 0]);
    expect(run.startNano).toBe(BigInt(startMs) * 1_000_000n);
    expect(chat.endNano - chat.startNano).toBe(80_000_000n);
    expect(run.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "openai_compatible",
      "gen_ai.agent.name": "helper",
      "gen_ai.conversation.id": "conv_1",
      "gen_ai.response.id": "resp_1",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.reasoning.output_tokens": 2,
      "rondo.run.reason": "completed",
    });
    expect(chat.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai_compatible",
      "gen_ai.request.model": "qwen3:8b",
      "gen_ai.request.stream": true,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.max_tokens": 100,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.seed": 7,
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "gen_ai.response.time_to_first_chunk": 0.02,
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.reasoning.output_tokens": 2,
      "rondo.model.context_window": 4096,
      "server.address": "127.0.0.1",
      "server.port": 11434,
    });
    expect(tool.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "add",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "c1",
      "rondo.turn.progress_count": 3,
      "rondo.turn.stop_reason": "completed",
    });
    expect(chat.events.map(({ name }) => name)).toEqual([
      "rondo.slot.awaited",
      "rondo.slot.taken",
      "rondo.request.sent",
      "rondo.request.retried",
      "rondo.request.sent",
      "rondo.model.accepted",
      "rondo.model.started",
    ]);
    expect(chat.events[3]?.attributes).toEqual({
      "rondo.attempt": 1,
      "rondo.wait_ms": 250,
      "error.type": "ModelHttpError",
    });
    expect(tool.events.map(({ name }) => name)).toEqual(["rondo.lock.awaited", "rondo.lock.taken"]);
    expect(run.events).toEqual([
      {
        name: "rondo.call.checked",
        attributes: {
          "gen_ai.tool.name": "rm",
          "gen_ai.tool.call.id": "c2",
          "rondo.call.decision": "reject",
          "rondo.call.reason": "unknown",
        },
      },
      { name: "rondo.warning", attributes: { "rondo.warning.code": "odd" } },
    ]);
  });

  test("have nothing that was said, unless that is asked for", async () => {
    const { text } = await spansOf(wholeRun, { openInference: true });
    expect(text).toContain("qwen3:8b");
    expect(text).not.toContain(secret);
  });

  test("with content, have messages, tools, arguments, results and messages of errors", async () => {
    const { find } = await spansOf(wholeRun, { content: true });
    const chat = find("chat qwen3:8b").attributes;
    expect(JSON.parse(String(chat["gen_ai.input.messages"]))).toEqual([
      { role: "system", parts: [{ type: "text", content: `Be brief. ${secret}` }] },
      {
        role: "user",
        parts: [
          { type: "text", content: `Hi ${secret}` },
          { type: "uri", modality: "image", uri: "data:image/png;base64," },
        ],
      },
      { role: "assistant", parts: [{ type: "tool_call", id: "c0", name: "add", arguments: { a: secret } }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c0", response: secret }] },
    ]);
    expect(JSON.parse(String(chat["gen_ai.output.messages"]))).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: secret },
          { type: "text", content: secret },
          { type: "tool_call", id: "c1", name: "add", arguments: { a: secret } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(JSON.parse(String(chat["gen_ai.tool.definitions"]))).toEqual([
      { type: "function", name: "add", description: secret },
    ]);
    expect(chat["gen_ai.request.stop_sequences"]).toEqual([secret]);
    const tool = find("execute_tool add").attributes;
    expect(tool["gen_ai.tool.call.arguments"]).toBe(`{"a":"${secret}"}`);
    expect(tool["gen_ai.tool.call.result"]).toBe(`{"sum":"${secret}"}`);
  });

  test("with openInference, have its names beside the others", async () => {
    const { find } = await spansOf(wholeRun, { content: true, openInference: true });
    expect(find("invoke_agent helper").attributes).toMatchObject({
      "openinference.span.kind": "AGENT",
      "agent.name": "helper",
      "llm.token_count.total": 17,
    });
    expect(find("chat qwen3:8b").attributes).toMatchObject({
      "openinference.span.kind": "LLM",
      "gen_ai.operation.name": "chat",
      "llm.model_name": "qwen3:8b",
      "llm.token_count.prompt": 12,
      "llm.token_count.completion": 5,
      "llm.token_count.prompt_details.cache_read": 4,
      "llm.input_messages.0.message.role": "system",
      "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "add",
      "llm.input_messages.3.message.tool_call_id": "c0",
      "llm.output_messages.0.message.content": secret,
      "output.value": secret,
    });
    expect(find("execute_tool add").attributes).toMatchObject({
      "openinference.span.kind": "TOOL",
      "tool.name": "add",
      "tool.id": "c1",
      "input.value": `{"a":"${secret}"}`,
    });
  });

  test("say what failed, with the message only if content is asked for", async () => {
    const error = { type: "ModelConnectionError", message: secret };
    const events = timed([
      { type: "run.started" },
      asked(0),
      { type: "model.failed", answer: 0, error },
      { type: "turn.started", turnId: "t", name: "bad", attempt: 2, input: () => ({}) },
      {
        type: "turn.finished",
        turnId: "t",
        stopReason: "error",
        error: { type: "ToolError", message: secret },
      },
      { type: "run.failed", error },
    ]);
    const { spans, find, text } = await spansOf(events);
    expect(find("invoke_agent").attributes["error.type"]).toBe("ModelConnectionError");
    expect(find("chat qwen3:8b").attributes).toMatchObject({
      "error.type": "ModelConnectionError",
      "gen_ai.response.finish_reasons": ["error"],
    });
    expect(find("execute_tool bad").attributes).toMatchObject({
      "error.type": "ToolError",
      "rondo.attempt": 2,
    });
    expect(spans.map(({ status }) => status)).toEqual([{ code: 2 }, { code: 2 }, { code: 2 }]);
    expect(text).not.toContain(secret);
    const again = await spansOf(events, { content: true });
    expect(again.spans.slice(3).map(({ status }) => status.message)).toEqual([secret, secret, secret]);
  });
});

test("whatever is still open ends with its run", async () => {
  const { spans } = await spansOf(
    timed([
      { type: "run.started" },
      asked(0),
      { type: "turn.started", turnId: "t", name: "slow", attempt: 1, input: () => ({}) },
      { type: "turn.started", turnId: "t", name: "slow", attempt: 2, input: () => ({}) },
      { type: "run.finished", reason: "aborted" },
    ]),
  );
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    "chat qwen3:8b",
    "execute_tool slow",
    "execute_tool slow",
    "invoke_agent",
  ]);
});

test("two runs at the same time each have their own spans", async () => {
  const shared = otelTracer();
  const [one, two] = [shared.forRun(), shared.forRun()];
  one.record({ type: "run.started", name: "one", atMs: startMs });
  two.record({ type: "run.started", name: "two", atMs: startMs });
  for (const event of timed([asked(0), { type: "model.finished", answer: 0, finishReason: "stop" }]))
    for (const tracer of [one, two]) tracer.record(event);
  for (const tracer of [one, two])
    tracer.record({ type: "run.finished", reason: "completed", atMs: startMs + 50 });
  const spans = await sdk.exported();
  const parents = spans.filter(({ name }) => name.startsWith("chat")).map(({ parentSpanId }) => parentSpanId);
  expect(new Set(parents)).toEqual(
    new Set([found(spans, "invoke_agent one").spanId, found(spans, "invoke_agent two").spanId]),
  );
});

test("huge and odd values are cut, and names too", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  let deep: unknown = 1;
  for (let level = 0; level < 5000; level += 1) deep = [deep];
  const turns = [circle, deep, "x".repeat(1_000_000), 1n, { text: "y".repeat(1_000_000) }].flatMap(
    (value, index): Untimed[] => [
      {
        type: "turn.started",
        turnId: `t${index}`,
        name: "n".repeat(100_000),
        callId: "c".repeat(100_000),
        attempt: 1,
        input: () => value,
      },
      { type: "turn.finished", turnId: `t${index}`, stopReason: "completed", output: () => value },
    ],
  );
  const messages = Array.from(
    { length: 10_000 },
    () => ({ role: "user", content: "z".repeat(1000) }) as const,
  );
  const events = timed([
    { type: "run.started", name: "r".repeat(100_000) },
    { ...asked(0), request: () => ({ messages }) } as Untimed,
    ...turns,
    { type: "run.finished", reason: "completed" },
  ]);
  const { spans, text } = await spansOf(events, { content: true });
  expect(spans).toHaveLength(7);
  expect(text.length).toBeLessThan(700_000);
  expect(Math.max(...spans.map(({ name }) => name.length))).toBeLessThan(250);
});
