import { MessageChannel } from "node:worker_threads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SilenceLimit } from "./silence.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("acts after the limit without a sound, with one timer for the whole stream", () => {
  const onSilence = vi.fn<() => void>();
  const silence = new SilenceLimit(100, onSilence);
  for (let count = 0; count < 10; count += 1) {
    silence.hear();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(90);
  }
  expect(onSilence).not.toHaveBeenCalled();
  vi.advanceTimersByTime(11);
  expect(onSilence).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test("does not count the time in which nobody listens", () => {
  const onSilence = vi.fn<() => void>();
  const silence = new SilenceLimit(100, onSilence);
  silence.hear();
  silence.pause();
  vi.advanceTimersByTime(1_000);
  silence.resume();
  vi.advanceTimersByTime(99);
  expect(onSilence).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(onSilence).toHaveBeenCalledOnce();
});

test("has no limit and no timer before the first sound, or after stop()", () => {
  const onSilence = vi.fn<() => void>();
  const silence = new SilenceLimit(100, onSilence);
  expect(vi.getTimerCount()).toBe(0);
  silence.hear();
  silence.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(onSilence).not.toHaveBeenCalled();
});

test("resume() after stop() starts no timer", () => {
  const silence = new SilenceLimit(100, () => {});
  silence.hear();
  silence.pause();
  silence.stop();
  silence.resume();
  expect(vi.getTimerCount()).toBe(0);
});

test("a limit longer than timers can be is kept", () => {
  const onSilence = vi.fn<() => void>();
  const silence = new SilenceLimit(2 ** 32, onSilence);
  silence.hear();
  vi.advanceTimersByTime(2 ** 32 - 1);
  expect(onSilence).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(onSilence).toHaveBeenCalledOnce();
});

test("no limit needs no timer", () => {
  const silence = new SilenceLimit(Number.POSITIVE_INFINITY, () => {});
  silence.hear();
  silence.pause();
  silence.resume();
  expect(vi.getTimerCount()).toBe(0);
});

test("bytes that arrived while the thread was busy count first", async () => {
  vi.useRealTimers();
  const { port1, port2 } = new MessageChannel();
  const onSilence = vi.fn<() => void>();
  const silence = new SilenceLimit(20, onSilence);
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  port2.on("message", () => {
    silence.hear();
    resolve();
  });
  silence.hear();
  port1.postMessage("sound");
  const busyUntil = performance.now() + 60;
  while (performance.now() < busyUntil);
  await heard;
  expect(onSilence).not.toHaveBeenCalled();
  silence.stop();
  port1.close();
});
