import { expect, test } from "vitest";
import { LocalNews } from "../store/news.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { ActiveRuns } from "./active-runs.ts";

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
