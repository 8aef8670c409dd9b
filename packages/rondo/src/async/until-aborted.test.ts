import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "./until-aborted.ts";

test("has the outcome of the work, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("does not wait for work that ignores the signal, and ignores its later error", async () => {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<void>();
  const waiting = untilAborted(promise, controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  reject(new Error("late"));
  await expect(untilAborted(Promise.resolve(), controller.signal)).rejects.toThrow("enough");
});
