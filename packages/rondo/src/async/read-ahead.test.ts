import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { readAhead } from "./read-ahead.ts";

test("gives all values in order, also undefined and null, and then the result", async () => {
  const ahead = readAhead(
    (async function* () {
      yield undefined;
      yield null;
      yield 0;
      return "end";
    })(),
  );
  expect(await ahead.next()).toEqual({ done: false, value: undefined });
  expect(await ahead.next()).toEqual({ done: false, value: null });
  expect(await ahead.next()).toEqual({ done: false, value: 0 });
  expect(await ahead.next()).toEqual({ done: true, value: "end" });
});

test("the source runs to its end even if its values are not consumed", async () => {
  let isEnded = false;
  const ahead = readAhead(
    (async function* () {
      yield* [1, 2, 3];
      isEnded = true;
    })(),
  );
  expect(await ahead.next()).toEqual({ done: false, value: 1 });
  await nextTick();
  expect(isEnded).toBe(true);
  expect(await Array.fromAsync(ahead)).toEqual([2, 3]);
});

test("a reader that is faster than the source gets each value when it comes", async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const ahead = readAhead(
    (async function* () {
      for (const [index, gate] of gates.entries()) {
        await gate.promise;
        yield index;
      }
    })(),
  );
  for (const [index, gate] of gates.entries()) {
    const pending = ahead.next();
    await nextTick();
    gate.resolve();
    expect(await pending).toEqual({ done: false, value: index });
  }
  expect(await ahead.next()).toEqual({ done: true, value: undefined });
});

test("an error comes after the values before it, however late they are taken", async () => {
  const error = new Error("no");
  const ahead = readAhead(
    (async function* () {
      yield 1;
      yield 2;
      throw error;
    })(),
  );
  expect(await ahead.next()).toEqual({ done: false, value: 1 });
  await nextTick();
  expect(await ahead.next()).toEqual({ done: false, value: 2 });
  await expect(ahead.next()).rejects.toBe(error);
});

test("leaving closes a source that is at work, and waits for it", async () => {
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const ahead = readAhead(
    (async function* () {
      try {
        yield 1;
        await gate.promise;
        yield 2;
        order.push("went on");
      } finally {
        order.push("closed");
      }
    })(),
  );
  await ahead.next();
  const leaving = ahead.return(undefined).then(() => order.push("left"));
  await nextTick();
  gate.resolve();
  await leaving;
  expect(order).toEqual(["closed", "left"]);
});
