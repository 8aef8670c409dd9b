import { expect, test, vi } from "vitest";
import { expireOld } from "./expiry.ts";
import { createLogger } from "./log.ts";

test("old responses are removed at the start and every hour, until it is ended", async () => {
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

test("nothing is removed when nothing says how long to keep it", () => {
  const asked: number[] = [];
  const expire = async (beforeMs: number) => asked.push(beforeMs);
  expireOld({ expire }, undefined, createLogger({ level: "silent" }))();
  expect(asked).toEqual([]);
});

test("a store that does not work is told in the log, and nothing else breaks", async () => {
  let log = "";
  const logger = createLogger({ write: (lines) => (log += lines) });
  const stop = expireOld({ expire: () => Promise.reject(new Error("disk full")) }, 1, logger);
  await vi.waitUntil(() => log !== "");
  expect(log).toContain("disk full");
  stop();
});
