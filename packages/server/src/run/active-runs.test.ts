import { expect, test, vi } from "vitest";
import { LocalNews } from "../store/news.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { ActiveRuns, type RunStopped } from "./active-runs.ts";

test("a run whose lease was lost to a newer one of this process is stopped, and the newer one stays held", async () => {
  const { queue } = memoryStore();
  const active = new ActiveRuns({ queue, news: new LocalNews(), leaseMs: 30_000, onError: () => {} });
  const untilStopped = (signal: AbortSignal) =>
    new Promise<unknown>((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));
  const older = active.hold({ responseId: "resp_1", fence: 1 }, untilStopped);
  const newer = active.hold({ responseId: "resp_1", fence: 2 }, untilStopped);
  expect(await older).toMatchObject({ why: "lost" });

  expect(await active.stop("resp_1", "cancelled")).toBe(true);
  expect(await newer).toMatchObject({ why: "cancelled" });
  expect(await active.stop("resp_1", "cancelled")).toBe(false);
});

test("a process that is cut off stops the runs that others can continue, and no others", async () => {
  vi.useFakeTimers();
  try {
    let isCutOff = false;
    const queue = Object.assign(memoryStore().queue, { isCutOff: () => isCutOff });
    const active = new ActiveRuns({ queue, news: new LocalNews(), leaseMs: 60_000, onError: () => {} });
    const stopped: string[] = [];
    const hold = (responseId: string, canContinue: boolean) =>
      active.hold(
        { responseId, fence: 1 },
        (signal) =>
          new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => {
              stopped.push(`${responseId} ${(signal.reason as RunStopped).why}`);
              resolve();
            }),
          ),
        { canContinue },
      );
    const runs = [hold("resp_background", true), hold("resp_foreground", false)];
    isCutOff = true;
    // At the first sight, it may only have been blocked itself.
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toEqual(["resp_background lost"]);
    await active.stopAll("shutdown");
    await Promise.all(runs);
  } finally {
    vi.useRealTimers();
  }
});
