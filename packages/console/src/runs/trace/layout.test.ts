import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TraceEvent } from "./events.ts";
import { layOut } from "./layout.ts";
import { readRounds } from "./rounds.ts";
import { pan, placeBars, ticks, zoom } from "./scale.ts";

/** Events from `[at, type, fields]`. */
function events(...list: [at: number, type: string, fields?: object][]): TraceEvent[] {
  return list.map(([at, type, fields], n) => ({ n, at, type, ...fields }));
}

const inShort = (trace: TraceEvent[], isOver = true, now = 0) =>
  layOut(trace, { now, isOver }).lanes.map(
    ({ label, bars }) =>
      `${label}: ${bars.map(({ kind, from, to, isOpen }) => `${kind} ${from}–${isOpen ? `${to}…` : to}`).join(", ")}`,
  );

const usage = { input_tokens: 800, output_tokens: 50, cached_tokens: 600 };
const run = events(
  [0, "run.queued"],
  [5, "run.claimed", { worker: "w", attempt: 1 }],
  [5, "run.started"],
  [6, "model.asked", { answer: 0, model: "m", endpoint: "e", messages: 2, tools: 2, context_window: 4_000 }],
  [6, "slot.awaited", { answer: 0 }],
  [20, "slot.taken", { answer: 0 }],
  [21, "request.sent", { answer: 0, attempt: 1, url: "u", bytes: 99 }],
  [40, "model.started", { answer: 0 }],
  [
    90,
    "call.checked",
    { answer: 0, call_id: "a", name: "add", decision: "run", doubts: ["repaired arguments"] },
  ],
  [90, "call.checked", { answer: 0, call_id: "b", name: "pay", decision: "reject", reason: "unknown tool" }],
  [90, "model.finished", { answer: 0, finish_reason: "tool_calls", usage }],
  [95, "store.committed", { ms: 4, bytes: 10, is_durable: true }],
  [96, "turn.started", { turn_id: "t1", name: "add", call_id: "a", attempt: 1 }],
  [97, "turn.started", { turn_id: "t2", name: "wait", call_id: "c", attempt: 1 }],
  [97, "lock.awaited", { turn_id: "t2" }],
  [110, "turn.finished", { turn_id: "t1", stop_reason: "completed" }],
  [110, "lock.taken", { turn_id: "t2" }],
  [130, "turn.finished", { turn_id: "t2", stop_reason: "failed", error: { type: "Error", message: "no" } }],
  [131, "model.asked", { answer: 1, model: "m", endpoint: "e", messages: 4, tools: 2 }],
  [132, "request.sent", { answer: 1, attempt: 1, url: "u", bytes: 99 }],
  [133, "request.retried", { answer: 1, attempt: 1, wait_ms: 7, error: { type: "E", message: "503" } }],
  [140, "request.sent", { answer: 1, attempt: 2, url: "u", bytes: 99 }],
  [150, "model.started", { answer: 1 }],
  [160, "model.finished", { answer: 1, finish_reason: "stop" }],
  [161, "run.finished", { reason: "completed" }],
);

describe("the layout of a trace", () => {
  test("has a lane for the queue, the store, each answer and each turn", () => {
    expect(inShort(run)).toEqual([
      "Queue: queue 0–5",
      "Store: store 91–95",
      "Answer 1: slot 6–20, prompt 20–40, generation 40–90",
      "add: tool 96–110",
      "wait: tool 97–97, lock 97–110, tool 110–130",
      "Answer 2: prompt 131–133, retry 133–140, prompt 140–150, generation 150–160",
    ]);
  });

  test("marks doubts, errors and rejected calls", () => {
    const { lanes, marks } = layOut(run, { now: 0, isOver: true });
    const [, , answer, add, wait, second] = lanes;
    expect([answer?.doubts, add?.doubts, wait?.doubts]).toEqual([
      ["repaired arguments"],
      ["repaired arguments"],
      [],
    ]);
    expect(wait?.error).toBe("no");
    expect(second?.bars[0]?.error).toBe("503");
    expect(marks.map(({ label }) => label)).toEqual(["Call of pay not run: unknown tool"]);
  });

  test("does not say that a call was not run which a crash interrupted", () => {
    const error = "The server stopped while this call ran. Whether it has done its work is not known.";
    const trace = events([
      1,
      "call.checked",
      { answer: 0, call_id: "a", name: "pay", decision: "reject", reason: "denied", error },
    ]);
    expect(layOut(trace, { now: 0, isOver: true }).marks).toMatchObject([
      { kind: "rejected", label: `Call of pay: ${error}` },
    ]);
    expect(readRounds(trace)).toMatchObject([{ calls: [{ rejection: `Call of pay: ${error}` }] }]);
  });

  test("leaves open what has not ended, until now", () => {
    expect(inShort(run.slice(0, 8), false, 70)).toEqual([
      "Queue: queue 0–5",
      "Answer 1: slot 6–20, prompt 20–40, generation 40–70…",
    ]);
    // As far as the trace goes, when the run is over but its end is missing.
    expect(inShort(run.slice(0, 8), true, 70).at(-1)).toContain("generation 40–40");
  });

  test("shows a resume: what the lost process did ends at its last event, and the run waits for the next", () => {
    const resumed = events(
      [0, "run.claimed", { attempt: 1 }],
      [1, "model.asked", { answer: 0 }],
      [10, "model.started", { answer: 0 }],
      [60, "run.claimed", { attempt: 2 }],
      [61, "model.asked", { answer: 0 }],
      [70, "model.started", { answer: 0 }],
      [80, "model.finished", { answer: 0 }],
      [81, "run.finished", { reason: "completed" }],
    );
    const { lanes, marks } = layOut(resumed, { now: 0, isOver: true });
    expect(inShort(resumed)).toEqual([
      "Queue: queue 10–60",
      "Answer 1: prompt 1–10, generation 10–10, prompt 61–70, generation 70–80",
    ]);
    expect(lanes[1]?.bars[1]?.error).toMatch(/ended before it was done/);
    expect(marks).toMatchObject([{ kind: "resumed", at: 60 }]);
  });

  test("shows approvals and a model server that is away", () => {
    const waits = events(
      [0, "model.away", { error: { type: "E", message: "refused" } }],
      [50, "model.back"],
      [60, "approval.asked", { call_id: "a", name: "pay" }],
      [90, "approval.decided", { call_id: "a", approved: false }],
    );
    expect(inShort(waits)).toEqual(["Model away: away 0–50", "Approval of pay: approval 60–90"]);
    expect(layOut(waits, { now: 0, isOver: true }).lanes[1]?.bars[0]?.error).toBe("Denied.");
  });

  const known = run.map(({ type }) => type);
  const other = [
    "run.failed",
    "model.failed",
    "model.away",
    "model.back",
    "approval.asked",
    "approval.decided",
  ];
  const anyEvent = fc.record({
    n: fc.nat(),
    at: fc.oneof(fc.double(), fc.nat(1_000)),
    type: fc.oneof(fc.constantFrom(...known, ...other, "warning", "prompt.cut", "trace.cut"), fc.string()),
    answer: fc.constantFrom(0, 1, Number.NaN, "0", undefined),
    turn_id: fc.constantFrom("t1", "t2", 3, undefined),
    call_id: fc.constantFrom("a", undefined, null),
    attempt: fc.constantFrom(1, 2, undefined),
    ms: fc.constantFrom(1, -5, 1e9, undefined),
    error: fc.constantFrom(undefined, null, "no", { message: 7 }, {}),
    doubts: fc.constantFrom(undefined, ["x"], "x"),
  });

  test("of any events has no negative bars, nothing outside of it, and nothing open at the end", () => {
    const pieces = fc.oneof(
      fc.array(anyEvent as fc.Arbitrary<TraceEvent>, { maxLength: 60 }),
      fc.nat(run.length).map((length) => run.slice(0, length)),
    );
    fc.assert(
      fc.property(pieces, fc.nat(300), fc.boolean(), (trace, now, isOver) => {
        const { lanes, to } = layOut(trace, { now, isOver });
        expect(new Set(lanes.map(({ id }) => id)).size).toBe(lanes.length);
        expect(to).toBeGreaterThanOrEqual(1);
        for (const { bars } of lanes) {
          expect(bars.length).toBeGreaterThan(0);
          for (const bar of bars) {
            expect(bar.from).toBeGreaterThanOrEqual(0);
            expect(bar.to).toBeGreaterThanOrEqual(bar.from);
            expect(bar.to).toBeLessThanOrEqual(to);
            expect(bar.isOpen && (isOver || Math.max(1, bar.to) !== to)).toBe(false);
          }
          expect(bars.filter(({ isOpen }) => isOpen).length).toBeLessThanOrEqual(1);
        }
        readRounds(trace);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the rounds of a trace", () => {
  test("tell how full the context was, what was cached, and how fast it was", () => {
    expect(readRounds(run)).toMatchObject([
      {
        answer: 0,
        contextWindow: 4_000,
        inputTokens: 800,
        cachedTokens: 600,
        slotMs: 14,
        firstTokenMs: 19,
        generationMs: 50,
        tokensPerSecond: 1_000,
        finishReason: "tool_calls",
        calls: [{ name: "add", doubts: ["repaired arguments"] }, { decision: "reject" }],
      },
      { answer: 1, attempts: 2, firstTokenMs: 10, generationMs: 10 },
    ]);
  });

  test("prefer what the model server measured", () => {
    const measured = events(
      [0, "model.started", { answer: 0 }],
      [10, "model.finished", { answer: 0, usage, timings: { predicted_per_second: 42 } }],
    );
    expect(readRounds(measured)[0]?.tokensPerSecond).toBe(42);
  });
});

describe("the axis of time", () => {
  test("stays within the run, however it is zoomed and moved", () => {
    const step = fc.oneof(
      fc.record({
        by: fc.double({ min: 0.01, max: 100, noNaN: true }),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      fc.double({ min: -3, max: 3, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e8, noNaN: true }), fc.array(step), (end, steps) => {
        let span = { from: 0, to: end };
        for (const each of steps)
          span = typeof each === "number" ? pan(span, each, end) : zoom(span, each.by, each.at, end);
        expect(span.from).toBeGreaterThanOrEqual(0);
        expect(span.to - span.from).toBeGreaterThan(0);
        expect(span.to).toBeLessThanOrEqual(end * 1.000001);
        expect(ticks(span, 6).length).toBeLessThanOrEqual(8);
      }),
    );
  });

  test("has round ticks", () => {
    expect(ticks({ from: 0, to: 1_000 }, 5)).toEqual([0, 200, 400, 600, 800, 1_000]);
  });

  test("draws neighbours of one kind as one where they would not be seen apart", () => {
    const bar = (from: number, to: number, kind: "store" | "tool" = "store", error?: string) =>
      ({ id: `${from}`, kind, from, to, isOpen: false, ...(error && { error }) }) as const;
    const many = Array.from({ length: 10_000 }, (_, index) => bar(index, index + 0.5));
    const placed = placeBars(many, { from: 0, to: 10_000 }, 100);
    expect(placed).toMatchObject([{ left: 0, count: 10_000 }]);
    expect(placeBars(many, { from: 5_000, to: 5_010 }, 1_000).map(({ count }) => count)).toEqual(
      Array.from({ length: 11 }, () => 1),
    );
    // One with an error is never hidden.
    const failed = [bar(0, 1), bar(1, 2, "store", "no"), bar(2, 3)];
    expect(placeBars(failed, { from: 0, to: 10_000 }, 100).map(({ count }) => count)).toEqual([1, 2]);
  });
});
