import { expect, test, vi } from "vitest";
import { AuditUnavailable } from "../audit/audit-log.ts";
import { auditedExpiry, expireOld } from "./expiry.ts";
import { createLogger } from "./log.ts";

test("old responses are deleted at the start and every hour, until it is stopped", async () => {
  vi.useFakeTimers({ now: 10 * 86_400_000 });
  try {
    const asked: number[] = [];
    const expire = async (beforeMs: number) => asked.push(beforeMs);
    const stop = expireOld({ expire }, 3, createLogger({ level: "silent" }));
    expect(asked).toEqual([7 * 86_400_000]);
    await vi.advanceTimersByTimeAsync(2 * 3_600_000);
    expect(asked).toHaveLength(3);
    stop();
    await vi.advanceTimersByTimeAsync(5 * 3_600_000);
    expect(asked).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});

test("nothing is deleted without keepDays", () => {
  const asked: number[] = [];
  const expire = async (beforeMs: number) => asked.push(beforeMs);
  expireOld({ expire }, undefined, createLogger({ level: "silent" }))();
  expect(asked).toEqual([]);
});

test("an unavailable store is logged, and the timer goes on", async () => {
  let log = "";
  const logger = createLogger({ write: (lines) => (log += lines) });
  const stop = expireOld({ expire: () => Promise.reject(new Error("disk full")) }, 1, logger);
  await vi.waitUntil(() => log !== "");
  expect(log).toContain("disk full");
  stop();
});

test("a container expires when the audit log says so", async () => {
  const told: string[] = [];
  let full: Error | undefined;
  const expire = auditedExpiry({
    record: ({ action, owner, target, outcome = "" }) =>
      told.push(`${action} ${owner} ${target} ${outcome}`.trim()),
    settled: () => (full ? Promise.reject(full) : undefined),
  });
  const remove = async () => told.push("removed") > 0;
  await expire({ id: "cntr_1", owner: "ann" }, remove);
  full = new AuditUnavailable(new Error("disk full"));
  await expect(expire({ id: "cntr_2", owner: "ann" }, remove)).rejects.toBe(full);
  expect(told).toEqual([
    "expiry.started ann cntr_1",
    "removed",
    "expiry.ended ann cntr_1 ok",
    "expiry.started ann cntr_2",
    "expiry.ended ann cntr_2 error",
  ]);
});
