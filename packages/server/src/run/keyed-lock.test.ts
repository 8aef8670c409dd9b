import { expect, test } from "vitest";
import { KeyedLock } from "./keyed-lock.ts";

const never = new AbortController().signal;

test("a key is held by one at a time, in the order of the requests", async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  const hold = async (name: string) => {
    const release = await lock.acquire("a", never);
    order.push(`${name} in`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} out`);
    release();
  };
  await Promise.all([hold("1"), hold("2"), hold("3")]);
  expect(order).toEqual(["1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]);
});

test("another key is free", async () => {
  const lock = new KeyedLock();
  await lock.acquire("a", never);
  await expect(lock.acquire("b", never)).resolves.toBeTypeOf("function");
});

test("an aborted request is skipped, and the next one still waits for those before it", async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  const releaseFirst = await lock.acquire("a", never);
  const impatient = new AbortController();
  const second = lock.acquire("a", impatient.signal);
  const third = lock.acquire("a", never).then(() => order.push("third"));
  impatient.abort(new Error("Enough."));
  await expect(second).rejects.toThrow("Enough.");
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  releaseFirst();
  await third;
  expect(order).toEqual(["third"]);
});

test("a request that was aborted before it came does not wait", async () => {
  const lock = new KeyedLock();
  await expect(lock.acquire("a", AbortSignal.abort(new Error("Gone.")))).rejects.toThrow("Gone.");
  await expect(lock.acquire("a", never)).resolves.toBeTypeOf("function");
});
