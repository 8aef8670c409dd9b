// What a request to a model server leaves in a trace.

import { expect, test } from "vitest";
import { fallback, openaiCompatible, query, responsesModel, tool } from "../index.ts";
import { chatChunks, type ServerStep, startModelServer } from "../testing/index.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { traceFlaws } from "../trace/testkit/trace-flaws.ts";
import type { TraceEvent, Tracer } from "../trace/trace.ts";
import type { OpenAICompatibleOptions } from "./chat-completions.ts";
import { message, startResponsesServer, stream } from "./responses/testkit/responses-server.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** Asks a server that gives these answers, and gives the events. */
async function traceOf(
  script: ServerStep[],
  { tracer = {}, ...options }: OpenAICompatibleOptions & { tracer?: Partial<Tracer> } = {},
) {
  await using server = await startModelServer(script);
  const events: TraceEvent[] = [];
  const model = openaiCompatible({
    baseURL: server.url,
    model: "test-model",
    server: "vllm",
    retry: { delayMs: 1 },
    ...options,
  });
  const onTrace: Tracer = {
    ...tracer,
    record(event) {
      events.push(event);
      tracer.record?.(event);
    },
  };
  const result = await query({
    prompt: "Hello!",
    options: { model, tools: [add], autoExecuteTools: true, onTrace },
  })
    .result()
    .catch((error: unknown) => error);
  expect(traceFlaws(events)).toEqual([]);
  return { events, server, result };
}

const ofType = <T extends TraceEvent["type"]>(events: readonly TraceEvent[], type: T) =>
  events.filter((event) => event.type === type) as Extract<TraceEvent, { type: T }>[];

test("each attempt, what went out, and when the server accepted it", async () => {
  collectWarnings();
  const { events, server } = await traceOf([{ status: 503 }, { text: ["Hel", "lo."] }]);
  expect(ofType(events, "warning")).toHaveLength(1);
  expect(events.filter(({ type }) => type !== "warning")).toMatchObject([
    { type: "run.started" },
    { type: "model.asked", answer: 0, model: "test-model", endpoint: server.url, messages: 1, tools: 1 },
    { type: "request.sent", answer: 0, attempt: 1, url: `${server.url}/chat/completions`, isStream: true },
    { type: "request.retried", answer: 0, attempt: 1, error: { type: "model_server" } },
    { type: "request.sent", answer: 0, attempt: 2 },
    { type: "model.accepted", answer: 0, status: 200 },
    { type: "model.started", answer: 0 },
    { type: "model.finished", answer: 0, finishReason: "stop" },
    { type: "run.finished", reason: "completed" },
  ]);
  const [, sent] = ofType(events, "request.sent");
  expect(JSON.parse(sent?.body() ?? "")).toEqual(server.requests[1]?.body);
  expect(sent?.bytes).toBe(Number(server.requests[1]?.headers["content-length"]));
  const [asked] = ofType(events, "model.asked");
  expect(asked?.request?.().messages).toEqual([{ role: "user", content: "Hello!" }]);
  const [finished] = ofType(events, "model.finished");
  expect(finished?.message?.()).toEqual({ role: "assistant", content: "Hello." });
});

test("raw chunks, only for a tracer that wants them, and whole characters", async () => {
  const answer = { text: ["Grüße ", "an ", "alle 👋"], splitBytes: 3 };
  const { events } = await traceOf([answer], { tracer: { wantsChunks: true } });
  const text = ofType(events, "model.chunk").map((it) => it.text);
  expect(text.join("")).toBe(
    [
      ...chatChunks({ text: answer.text }).map((it) => `data: ${JSON.stringify(it)}\n\n`),
      "data: [DONE]\n\n",
    ].join(""),
  );
  expect(text.join("")).not.toContain("\uFFFD");
  expect(ofType((await traceOf([answer])).events, "model.chunk")).toEqual([]);
});

test("a key that a server quotes in its answer is not in the chunks, however they are split", async () => {
  collectWarnings();
  const apiKey = "sk-s3cret-key";
  const chunks = [{ error: { message: `Wrong key: Bearer ${apiKey}` } }];
  for (const splitBytes of [1, 7, 1000]) {
    const { events } = await traceOf([{ chunks, splitBytes }], { apiKey, tracer: { wantsChunks: true } });
    const text = ofType(events, "model.chunk").map((it) => it.text);
    expect(text.join("")).toContain("Wrong key: (hidden)");
    expect(JSON.stringify(events)).not.toContain(apiKey);
  }
});

test("what llama.cpp measured, but nothing that is not a number", async () => {
  const timings = { prompt_n: 8, predicted_n: 2, prompt_ms: 12.5, predicted_per_second: 40, note: "hot" };
  const chunks = [...chatChunks({ text: "Hi." }), { choices: [], timings }];
  const { events } = await traceOf([{ chunks }]);
  const { note: _, ...numbers } = timings;
  expect(ofType(events, "model.finished")).toMatchObject([{ timings: numbers }]);
  expect(ofType(events, "model.finished")[0]?.timings).not.toHaveProperty("note");
});

test("the first token is seen when it comes, also where a call in the text is held back", async () => {
  const { promise: isSeen, resolve } = Promise.withResolvers<void>();
  const text = ['<tool_call>{"name":', isSeen, ' "add", "arguments": {"a": 1, "b": 2}}</tool_call>'];
  const record = (event: TraceEvent) => {
    if (event.type === "model.started") resolve(); // the server waits for it
    events.push(event);
  };
  const events: TraceEvent[] = [];
  await traceOf([{ text }, "3"], { profile: { toolDialects: ["hermes"] }, tracer: { record } });
  expect(ofType(events, "call.checked")).toMatchObject([{ decision: "run", doubts: ["read from text"] }]);
});

test("a request that waits for a slot", async () => {
  await using server = await startModelServer({ text: "Hi." });
  const model = openaiCompatible({
    baseURL: server.url,
    model: "test-model",
    server: "vllm",
    maxConcurrency: 1,
  });
  const traces = await Promise.all(
    ["first", "second"].map(async (prompt) => {
      const events: TraceEvent[] = [];
      await query({ prompt, options: { model, onTrace: (event) => void events.push(event) } }).result();
      return events.map(({ type }) => type).filter((type) => /slot|sent/.test(type));
    }),
  );
  expect(traces).toEqual([["request.sent"], ["slot.awaited", "slot.taken", "request.sent"]]);
});

test("headers of the tracer go out and replace none", async () => {
  const asked: unknown[] = [];
  const { server } = await traceOf(["Hi."], {
    headers: { tracestate: "user=1" },
    tracer: {
      headers(of) {
        asked.push(of);
        return { Traceparent: sampled, tracestate: "tracer=1" };
      },
    },
  });
  expect(asked).toEqual([{ answer: 0 }]);
  expect(server.requests[0]?.headers).toMatchObject({ traceparent: sampled, tracestate: "user=1" });
});

test.each([
  ["a line break", { traceparent: "00\r\nx-evil: 1" }],
  ["a header of the message", { "content-length": "1" }],
  ["a header of the connection", { "Transfer-Encoding": "chunked" }],
  ["the user's key", { authorization: "Bearer other" }],
  ["no header's name", { "a b": "1" }],
  ["no text", { traceparent: 1 }],
  ["more than fits", { baggage: "x".repeat(100_000) }],
  ["far too many", Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "1"]))],
  ["no headers at all", "traceparent"],
])("headers that would break the request are not sent, and reported once: %s", async (_name, headers) => {
  const warnings = collectWarnings();
  const { server, result } = await traceOf([{ status: 503 }, "Hi."], {
    apiKey: "sk-secret",
    tracer: { headers: () => headers as Record<string, string> },
  });
  expect(result).toMatchObject({ text: "Hi." });
  const { "content-length": length, authorization, ...sent } = server.requests[1]?.headers ?? {};
  expect({ length, authorization }).toEqual({
    length: String(JSON.stringify(server.requests[1]?.body).length),
    authorization: "Bearer sk-secret",
  });
  expect(Object.keys(sent).toSorted()).toEqual(["accept", "connection", "content-type", "host"]);
  expect(warnings.filter((it) => it.includes("tracer"))).toHaveLength(1);
});

test("each model of a chain is an answer of its own", async () => {
  collectWarnings();
  await using server = await startModelServer([{ status: 400 }, "Hi."]);
  const [first, second] = ["a", "b"].map((model) =>
    openaiCompatible({ baseURL: server.url, model, server: "vllm", profile: { contextWindow: 4096 } }),
  ) as [ReturnType<typeof openaiCompatible>, ReturnType<typeof openaiCompatible>];
  const events: TraceEvent[] = [];
  await query({
    prompt: "Hello!",
    options: { model: fallback(first, second), onTrace: (event) => void events.push(event) },
  }).result();
  expect(traceFlaws(events)).toEqual([]);
  expect(events.filter(({ type }) => /^(model|request)\./.test(type))).toMatchObject([
    { type: "model.asked", answer: 0, model: "a", contextWindow: 4096 },
    { type: "request.sent", answer: 0, attempt: 1 },
    { type: "model.failed", answer: 0, error: { type: "model_request" } },
    { type: "model.asked", answer: 1, model: "b" },
    { type: "request.sent", answer: 1, attempt: 1 },
    { type: "model.accepted", answer: 1 },
    { type: "model.started", answer: 1 },
    { type: "model.finished", answer: 1 },
  ]);
});

test("a Responses API", async () => {
  const { url, requests } = await startResponsesServer([stream(message(["Hel", "lo."]))]);
  const events: TraceEvent[] = [];
  const onTrace: Tracer = {
    wantsChunks: true,
    record: (event) => void events.push(event),
    headers: () => ({ traceparent: sampled }),
  };
  await query({ prompt: "Hello!", options: { model: responsesModel(url), onTrace } }).result();
  expect(traceFlaws(events)).toEqual([]);
  expect([...new Set(events.map(({ type }) => type))]).toEqual([
    "run.started",
    "model.asked",
    "request.sent",
    "model.accepted",
    "model.chunk",
    "model.started",
    "model.finished",
    "run.finished",
  ]);
  expect(requests[0]?.headers).toMatchObject({ traceparent: sampled });
  expect(JSON.parse(ofType(events, "request.sent")[0]?.body() ?? "")).toEqual(requests[0]?.body);
});
