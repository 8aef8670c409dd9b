import { afterEach, expect, test, vi } from "vitest";
import { InvalidArgumentError } from "../index.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { RunTrace } from "./run-trace.ts";
import type { TraceEvent } from "./trace.ts";
import { toTraceError } from "./trace-error.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

function traced(): { readonly trace: RunTrace; readonly events: TraceEvent[] } {
  const events: TraceEvent[] = [];
  return { trace: new RunTrace((event) => void events.push(event)), events };
}

test("times are those of the clock, and follow it when it is set", () => {
  const { trace, events } = traced();
  const before = Date.now();
  trace.start(undefined);
  expect(Math.abs((events[0]?.atMs ?? 0) - before)).toBeLessThan(1_000);
  vi.spyOn(Date, "now").mockReturnValue(before + 3_600_000); // the machine slept
  trace.finish("completed");
  expect(events[1]?.atMs).toBeLessThan(before + 60_000); // not within a run
  const later = traced();
  later.trace.start(undefined);
  expect(later.events[0]?.atMs).toBeGreaterThan(before + 3_599_000);
  vi.restoreAllMocks();
  traced(); // back
});

test("an event of another clock never goes back", () => {
  const { trace, events } = traced();
  trace.start(undefined);
  trace.record({ type: "warning", message: "late", atMs: 5 });
  expect(events[1]).toMatchObject({ message: "late", atMs: events[0]?.atMs });
});

test("a tracer whose members throw is asked for nothing", () => {
  const warnings = collectWarnings();
  const trace = new RunTrace({
    record: () => {},
    get wantsChunks(): boolean {
      throw new Error("no");
    },
    headers() {
      throw new Error("no");
    },
    forRun() {
      throw new Error("no");
    },
  });
  expect(trace.wantsChunks).toBe(false);
  expect(trace.headers({ answer: 0 })).toEqual({});
  expect(warnings).toHaveLength(1);
});

test("a run ends once", () => {
  const { trace, events } = traced();
  trace.start("one");
  trace.fail(new Error("gone"));
  trace.finish("aborted");
  trace.fail(new Error("gone"));
  expect(events.map(({ type }) => type)).toEqual(["run.started", "run.failed"]);
});

test.each([
  [
    "its code",
    new InvalidArgumentError({ field: "a", expected: "b", received: 1 }),
    { type: "invalid_argument" },
  ],
  ["its class", new RangeError("far"), { type: "RangeError", message: "far" }],
  ["of an abort", new DOMException("left", "AbortError"), { type: "AbortError", message: "left" }],
  ["of text", "broken", { type: "unknown", message: '"broken"' }],
  ["of nothing", undefined, { type: "unknown", message: "nothing" }],
  ["of a system call", Object.assign(new Error("no"), { code: "ENOENT" }), { type: "ENOENT", message: "no" }],
  [
    "of what cannot be looked at",
    new Proxy(
      {},
      {
        get() {
          throw new Error("no");
        },
      },
    ),
    { type: "unknown" },
  ],
])("an error is told by %s", (_name, error, expected) => {
  expect(toTraceError(error)).toMatchObject(expected);
});

test("a long message is cut", () => {
  expect(toTraceError(new Error("x".repeat(10_000))).message).toHaveLength(2_000);
});
