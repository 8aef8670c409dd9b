import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Bell } from "./bell.ts";

test("a sleeper wakes when the bell rings, and leaves no listener behind", async () => {
  const bell = new Bell();
  const { signal } = new AbortController();
  const sleep = bell.sleep(signal);
  bell.ring();
  await sleep;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort ends the sleep with its reason, and leaves no listener behind", async () => {
  const bell = new Bell();
  const controller = new AbortController();
  const sleep = bell.sleep(controller.signal);
  controller.abort("enough");
  await expect(sleep).rejects.toBe("enough");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("an aborted signal rejects the sleep", async () => {
  await expect(new Bell().sleep(AbortSignal.abort("before"))).rejects.toBe("before");
});

test("ringing without a sleeper does nothing, and is not remembered", async () => {
  const bell = new Bell();
  bell.ring();
  const controller = new AbortController();
  const sleep = bell.sleep(controller.signal);
  controller.abort("still asleep");
  await expect(sleep).rejects.toBe("still asleep");
});
