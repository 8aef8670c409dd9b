import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { after, settlesWithin, timerMs } from "./timer.ts";

const longestTimerMs = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("an action comes after its time, once", () => {
  const action = vi.fn<() => void>();
  after(100, action);
  vi.advanceTimersByTime(99);
  expect(action).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(action).toHaveBeenCalledOnce();
});

test("Infinity means never, and does not reach setTimeout", () => {
  const cancel = after(Number.POSITIVE_INFINITY, () => {});
  expect(vi.getTimerCount()).toBe(0);
  expect(cancel).not.toThrow();
});

test("a time that is longer than a timer can take is kept", () => {
  const action = vi.fn<() => void>();
  after(longestTimerMs * 2 + 100, action);
  for (let weeks = 0; weeks < 2; weeks += 1) vi.advanceTimersByTime(longestTimerMs);
  vi.advanceTimersByTime(99);
  expect(action).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(action).toHaveBeenCalledOnce();
});

test("setTimeout never gets more than it can take", () => {
  const setTimer = vi.spyOn(globalThis, "setTimeout");
  after(longestTimerMs + 1, () => {});
  after(Number.MAX_VALUE, () => {});
  for (const [, durationMs] of setTimer.mock.calls) expect(durationMs).toBe(longestTimerMs);
  expect(setTimer).toHaveBeenCalledTimes(2);
});

test("an action that was cancelled does not come, also when its timer was wound up again", () => {
  const action = vi.fn<() => void>();
  const cancel = after(longestTimerMs + 100, action);
  vi.advanceTimersByTime(longestTimerMs + 50);
  cancel();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(longestTimerMs);
  expect(action).not.toHaveBeenCalled();
});

test.each([
  [-1, 0],
  [0, 0],
  [5, 5],
  [longestTimerMs + 1, longestTimerMs],
  [Number.POSITIVE_INFINITY, longestTimerMs],
])("of %d ms a timer gets %d", (durationMs, expected) => {
  expect(timerMs(durationMs)).toBe(expected);
});

test("settlesWithin reports a fulfilled promise, and leaves no timer behind", async () => {
  expect(await settlesWithin(Promise.resolve(1), 1_000)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("settlesWithin reports a rejected promise, without rejecting", async () => {
  expect(await settlesWithin(Promise.reject(new Error("no")), 1_000)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("settlesWithin gives up after its time", async () => {
  const pending = settlesWithin(new Promise(() => {}), 1_000);
  vi.advanceTimersByTime(1_000);
  expect(await pending).toBe(false);
});

test("settlesWithin waits forever for Infinity", async () => {
  const work = Promise.withResolvers<void>();
  const pending = settlesWithin(work.promise, Number.POSITIVE_INFINITY);
  expect(vi.getTimerCount()).toBe(0);
  work.resolve();
  expect(await pending).toBe(true);
});
