import { expect, test } from "vitest";
import { RunTracer, type RunTracerOptions, writtenIn } from "./run-tracer.ts";
import type { RunTraceEvent } from "./trace-event.ts";

function tracer(given: Partial<RunTracerOptions> = {}) {
  const events: RunTraceEvent[] = [];
  const made = new RunTracer({
    level: "timings",
    createdAtMs: 1000,
    onEvent: (event) => events.push(event),
    ...given,
  });
  return { tracer: made, events };
}

const linesOf = (piece: { lines: string } | undefined) =>
  (piece?.lines ?? "").split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);

test("pieces follow each other, and one is shown until the next is taken", () => {
  const { tracer: trace } = tracer();
  expect(trace.take()).toBeUndefined();
  trace.note({ type: "model.back" }, 1001.23456);
  trace.note({ type: "run.queued" }, 999);
  const first = trace.take();
  expect(first).toEqual({
    first: 0,
    last: 1,
    lines: '{"at":1.235,"type":"model.back"}\n{"at":0,"type":"run.queued"}',
  });
  expect(trace.take()).toBeUndefined();
  trace.note({ type: "model.back" }, 1002);
  expect(trace.unwritten).toEqual([first, { first: 2, last: 2, lines: '{"at":2,"type":"model.back"}' }]);
  expect(trace.take()).toMatchObject({ first: 2, last: 2 });
});

test("a resumed run goes on after what is written", () => {
  const { tracer: trace } = tracer({ written: { next: 7, bytes: 100, answers: 0, isCut: false } });
  trace.note({ type: "model.back" }, 1001);
  expect(trace.take()).toMatchObject({ first: 7, last: 7 });
});

test("with off nothing is kept, and everything is told", () => {
  const { tracer: trace, events } = tracer({ level: "off" });
  trace.note({ type: "model.back" });
  expect(trace.take()).toBeUndefined();
  expect(events).toMatchObject([{ type: "model.back" }]);
});

const asked = (answer: number): RunTraceEvent => ({
  type: "model.asked",
  atMs: 1000,
  answer,
  model: "m",
  endpoint: "e",
  messages: 1,
  tools: 0,
});

test("a process that resumes a run knows its answers, and whether its trace is cut", () => {
  const { tracer: trace } = tracer({ level: "full" });
  trace.record(asked(0));
  trace.record(asked(1));
  const fake = { type: "model.asked", answer: 99 };
  trace.record({ type: "turn.finished", atMs: 1000, turnId: "t", stopReason: "x", output: () => fake });
  const pieces = [trace.take() ?? { first: 0, last: 0, lines: "" }];
  const size = { next: 3, bytes: 500 };
  expect(writtenIn(pieces, size)).toEqual({ ...size, answers: 2, isCut: false });
  expect(writtenIn([], { next: 0, bytes: 0 })).toMatchObject({ answers: 0, isCut: false });
  const { tracer: next } = tracer({ written: writtenIn(pieces, size) });
  next.record(asked(1));
  next.record({ type: "model.started", atMs: 1000, answer: 1 });
  expect(linesOf(next.take()).map(({ answer }) => answer)).toEqual([2, 2]);

  const { tracer: long } = tracer({ written: writtenIn([], { next: 5, bytes: 999_950 }) });
  long.record(asked(0));
  const cut = long.take();
  expect(linesOf(cut).map(({ type }) => type)).toEqual(["trace.cut"]);
  const { tracer: later } = tracer({ written: writtenIn(cut ? [cut] : [], { next: 6, bytes: 10_000 }) });
  later.record(asked(0));
  expect(later.take()).toBeUndefined();
});

test("answers of a run that begins again get numbers of their own", () => {
  const { tracer: trace } = tracer();
  const ask = (answer: number) => trace.record(asked(answer));
  ask(0);
  ask(1);
  ask(0);
  trace.record({ type: "model.started", atMs: 1000, answer: 0 });
  ask(1);
  expect(linesOf(trace.take()).map(({ answer }) => answer)).toEqual([0, 1, 2, 2, 3]);
});

test.each([
  ["timings", 20_000, 1_000_000, "x"],
  ["timings", 20_000, 1_000_000, "x".repeat(1000)],
  ["full", 100_000, 8_000_000, "é".repeat(900)],
] as const)("a trace (%s) ends when it is too long: %i events, %i bytes", (level, events, bytes, message) => {
  const { tracer: trace, events: told } = tracer({ level });
  let [count, size] = [0, 0];
  for (let n = 0; n < 25_000; n += 1) {
    trace.record({ type: "warning", atMs: 1000 + n, message });
    if (n % 100 !== 0) continue;
    const piece = trace.take();
    if (!piece) continue;
    expect(piece.first).toBe(count);
    count = piece.last + 1;
    size += Buffer.byteLength(piece.lines);
  }
  const last = trace.take();
  expect(told).toHaveLength(25_000);
  expect(count).toBeLessThanOrEqual(events);
  expect(size).toBeLessThanOrEqual(bytes);
  expect(size > bytes - 10_000 || count > events - 100).toBe(true);
  expect(last).toBeUndefined();
});

test("a full trace whose content takes too much goes on without it", () => {
  const { tracer: trace } = tracer({ level: "full" });
  const sent = { type: "request.sent", atMs: 1000, answer: 0, attempt: 1, url: "u", bytes: 9 } as const;
  for (let answer = 0; answer < 1000; answer += 1) {
    trace.record(asked(answer));
    trace.record({ ...sent, answer, body: () => "x".repeat(500 * answer) }); // the conversation grows
    trace.record({ type: "model.chunk", atMs: 1000, answer, text: "y" });
  }
  const piece = trace.take();
  const lines = linesOf(piece);
  expect(Buffer.byteLength(piece?.lines ?? "")).toBeLessThan(8_000_000);
  expect(lines.filter(({ type }) => type === "model.asked")).toHaveLength(1000);
  const bodies = lines.filter(({ body }) => body !== undefined).length;
  expect(bodies).toBeGreaterThan(150);
  expect(lines.filter(({ type }) => type === "model.chunk")).toHaveLength(bodies);
  expect(lines.at(-1)).toMatchObject({ type: "request.sent", answer: 999, bytes: 9 });
});

test("the last event of a trace that is too long says so", () => {
  const { tracer: trace } = tracer({ written: { next: 5, bytes: 999_000, answers: 0, isCut: false } });
  for (let n = 0; n < 3; n += 1) trace.record({ type: "warning", atMs: 1000, message: "x".repeat(800) });
  expect(linesOf(trace.take()).map(({ type }) => type)).toEqual(["warning", "trace.cut"]);
});

test("a tool that yields all the time is seen now and then, and others beside it", () => {
  const { tracer: trace } = tracer();
  const progress = (turnId: string, count: number, atMs: number) =>
    trace.record({ type: "turn.progress", atMs, turnId, count });
  for (let count = 1; count <= 1000; count += 1) {
    progress("t", count, 2000 + count);
    if (count % 150 === 0) progress("slow", 10 + count, 2000 + count);
  }
  const lines = linesOf(trace.take());
  expect(lines.filter(({ turn_id }) => turn_id === "slow")).toHaveLength(6);
  const counts = lines.flatMap(({ turn_id, count }) => (turn_id === "t" ? [count] : []));
  expect(counts.slice(0, 11)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(counts).toHaveLength(20);
});
