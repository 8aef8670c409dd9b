import { scriptedModel } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { Metrics } from "../metrics.ts";
import { Samples } from "./samples.ts";
import { start } from "./testkit/start.ts";

function started(count = async () => ({ queued: 3, running: 1 })) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const metrics = new Metrics();
  const counting = vi.fn<() => Promise<{ queued: number; running: number }>>(count);
  const samples = new Samples({ metrics, queue: { count: counting } });
  onTestFinished(() => samples.close());
  return { metrics, samples, counting };
}

test("a sample every two seconds has what was counted since the one before", () => {
  const { metrics, samples } = started();
  metrics.requestEnded("/v1/responses", "POST", 200, 0.1);
  metrics.requestEnded("/v1/system", "GET", 200, 0.1);
  metrics.requestEnded("/healthz", "GET", 200, 0.1);
  metrics.tokensUsed({ inputTokens: 10, outputTokens: 5, totalTokens: 15 });
  metrics.streamOpened();
  for (const seconds of [0.03, 0.01, 0.02]) metrics.firstTokenCame(seconds);
  vi.advanceTimersByTime(4000);
  expect(samples.read()).toMatchObject([
    { requests: 1, input_tokens: 10, output_tokens: 5, first_token_ms: 20, streams: 1 },
    { requests: 0, input_tokens: 0, output_tokens: 0, first_token_ms: null, streams: 1 },
  ]);
  const [first, second] = samples.read();
  expect((second?.at_ms ?? 0) - (first?.at_ms ?? 0)).toBe(2000);
  expect(samples.read(first?.at_ms)).toEqual([second]);
  expect(first?.rss_bytes).toBeGreaterThan(first?.heap_bytes ?? Infinity);
});

test("the last 15 minutes are kept, and nothing after close()", () => {
  const { samples } = started();
  vi.advanceTimersByTime(3_600_000);
  expect(samples.read()).toHaveLength(450);
  const last = samples.read().at(-1);
  samples.close();
  vi.advanceTimersByTime(10_000);
  expect(samples.read().at(-1)).toBe(last);
});

test("the queue is asked for only while somebody looks, one count at a time", async () => {
  const { promise: hung } = Promise.withResolvers<never>();
  let isHanging = false;
  const { samples, counting } = started(async () => (isHanging ? hung : { queued: 3, running: 1 }));
  vi.advanceTimersByTime(60_000);
  expect(counting).not.toHaveBeenCalled();
  expect(samples.read().at(-1)).toMatchObject({ queued: null, running: null });
  vi.advanceTimersByTime(2000);
  await vi.waitFor(() => expect(samples.read().at(-1)).toMatchObject({ queued: 3, running: 1 }));
  isHanging = true;
  vi.advanceTimersByTime(20_000);
  expect(counting).toHaveBeenCalledTimes(2);
});

test("the route gives them, and refuses a time that is none", async () => {
  const { get } = await start({ models: { test: scriptedModel([]) } });
  expect((await get("/v1/system/samples?after_ms=1")).body).toEqual({
    object: "list",
    interval_ms: 2000,
    data: [],
  });
  expect((await get("/v1/system/samples?after_ms=x")).body.error).toMatchObject({ param: "after_ms" });
});
