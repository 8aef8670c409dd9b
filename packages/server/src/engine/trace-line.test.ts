import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunTraceEvent } from "./trace-event.ts";
import { toTraceLine } from "./trace-line.ts";

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedTokens: 1, estimated: true } as const;

function written(event: RunTraceEvent, isFull = true): Record<string, unknown> {
  return JSON.parse(toTraceLine(event, { at: 1.5, answerOffset: 1, isFull })) as Record<string, unknown>;
}

/** Events with a text in every place where one can be. */
const eventsWith = (text: string): RunTraceEvent[] => {
  const error = { type: `model_${text}`, message: text };
  const body = () => text;
  return (
    [
      { type: "run.started", name: text },
      { type: "run.finished", reason: text, usage },
      { type: "run.failed", error },
      {
        type: "model.asked",
        answer: 0,
        model: text,
        endpoint: text,
        messages: 1,
        tools: 2,
        contextWindow: 9,
      },
      { type: "slot.awaited", answer: 0 },
      { type: "request.sent", answer: 0, attempt: 1, url: text, bytes: 4, isStream: true, body },
      { type: "request.retried", answer: 0, attempt: 1, waitMs: 1 / 3, error },
      { type: "model.accepted", answer: 0, status: 200 },
      { type: "model.chunk", answer: 0, text },
      { type: "model.finished", answer: 0, finishReason: "stop", usage, timings: { [text]: text } },
      { type: "model.failed", answer: 0, error },
      {
        type: "call.checked",
        answer: 0,
        callId: text,
        name: text,
        decision: "reject",
        reason: text,
        error: text,
        doubts: [text],
      },
      {
        type: "turn.started",
        turnId: text,
        name: text,
        callId: text,
        attempt: 1,
        input: () => ({ [text]: text }),
      },
      { type: "lock.awaited", turnId: text },
      { type: "turn.progress", turnId: text, count: 3 },
      { type: "turn.finished", turnId: text, stopReason: text, error, output: body },
      { type: "prompt.changed", part: "tools", index: 1, message: text },
      { type: "prompt.cut", reportedTokens: 1, expectedTokens: 2, message: text },
      { type: "warning", message: text, code: text },
      { type: "run.queued" },
      { type: "run.claimed", worker: text, attempt: 1, level: "full" },
      { type: "approval.asked", callId: text, name: text },
      { type: "approval.decided", callId: text, approved: true },
      { type: "model.away", error },
      { type: "model.back" },
      { type: "store.committed", ms: 1 / 3, isDurable: true },
      { type: "trace.cut" },
    ] as RunTraceEvent[]
  ).map((event) => ({ ...event, atMs: 0 }));
};

test("whatever is in an event, its line is one of JSON, with the names of the API", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom('"', "\\", "\n\u2028", "\ud800", "\u0000", "__proto__", "https://a:b@c/d?e#f", "@", "?"),
  );
  fc.assert(
    fc.property(texts, fc.boolean(), (text, isFull) => {
      for (const event of eventsWith(text)) {
        const line = toTraceLine(event, { at: 1.5, answerOffset: 1, isFull });
        expect(line).not.toContain("\n");
        const { at, type, answer, ...rest } = JSON.parse(line) as Record<string, unknown>;
        expect({ at, type }).toEqual({ at: 1.5, type: event.type });
        expect(answer).toBe("answer" in event ? 1 : undefined);
        for (const name of Object.keys(rest)) expect(name).toMatch(/^[a-z_]+$/);
      }
    }),
    { numRuns: 100 },
  );
});

test("numbers, usage and timings are as the API has them", () => {
  expect(written({ type: "model.finished", atMs: 0, answer: 0, finishReason: "stop", usage })).toMatchObject({
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5, cached_tokens: 1, estimated: true },
  });
  expect(written({ type: "store.committed", atMs: 0, ms: 1 / 3, isDurable: false })).toEqual({
    at: 1.5,
    type: "store.committed",
    ms: 0.333,
    is_durable: false,
  });
  const timings = { text: "x".repeat(5000) };
  expect(
    written({ type: "model.finished", atMs: 0, answer: 0, finishReason: "stop", timings }),
  ).not.toHaveProperty("timings");
});

test("what was said is only in a full trace, and never without a limit", () => {
  for (const event of eventsWith("s3cret").filter(({ type }) => /chunk|sent|turn/.test(type))) {
    const without = written(event, false);
    for (const name of ["body", "text", "input", "output"]) expect(without).not.toHaveProperty(name);
  }
  const huge = "x".repeat(1_000_001);
  const chunk = written({ type: "model.chunk", atMs: 0, answer: 0, text: huge });
  expect(chunk).toEqual({ at: 1.5, type: "model.chunk", answer: 1, text_length: huge.length + 2 });
  expect(
    toTraceLine({ type: "warning", atMs: 0, message: huge }, { at: 0, answerOffset: 0, isFull: true }).length,
  ).toBeLessThan(2100);
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const turn = { type: "turn.started", atMs: 0, turnId: "t", name: "n", attempt: 1, input: () => circular };
  expect(written(turn as RunTraceEvent)).not.toHaveProperty("input");
});

test("keys in URLs, and what the server's own errors say, are left out", () => {
  const sent = { type: "request.sent", atMs: 0, answer: 0, attempt: 1, bytes: 1, body: () => "" } as const;
  for (const url of ["https://user:s3cret@host/v1/x?key=s3cret#s3cret", "https://host/v1/x?a=@s3cret"])
    expect(written({ ...sent, url }, false)["url"]).toBe("https://host/v1/x");
  const failed = (type: string) =>
    written({ type: "run.failed", atMs: 0, error: { type, message: "s3cret" } })["error"];
  expect(failed("model_auth")).toEqual({ type: "model_auth", message: "The server's log says more." });
  expect(failed("ClientLeft")).toHaveProperty("message", "s3cret");
  expect(failed("TypeError")).not.toHaveProperty("message", "s3cret");
  expect(failed("model_server")).toEqual({ type: "model_server", message: "s3cret" });
});
