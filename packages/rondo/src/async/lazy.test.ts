import { expect, test } from "vitest";
import { hasLazy, literal, resolveLazy } from "./lazy.ts";

test("a function is called for its value, and awaited", async () => {
  expect(await resolveLazy({ now: () => 1, later: async () => 2, plain: 3 })).toEqual({
    now: 1,
    later: 2,
    plain: 3,
  });
});

test("a function gets no arguments", async () => {
  expect(await resolveLazy({ count: (...args: unknown[]) => args.length })).toEqual({ count: 0 });
});

test("functions are called one at a time, in the order of their keys", async () => {
  const order: string[] = [];
  await resolveLazy({
    a: async () => {
      await Promise.resolve();
      order.push("a");
    },
    b: () => order.push("b"),
  });
  expect(order).toEqual(["a", "b"]);
});

test("a literal function is passed through and not called", async () => {
  const fn = () => expect.unreachable("it was called");
  expect(await resolveLazy({ fn: literal(fn) })).toEqual({ fn });
});

test("what a lazy value throws is thrown", async () => {
  const values = {
    secret: () => {
      throw new Error("no secret");
    },
  };
  await expect(resolveLazy(values)).rejects.toThrow("no secret");
});

test("a key named __proto__ stays a key", async () => {
  const resolved = await resolveLazy(JSON.parse(`{ "__proto__": 1 }`));
  expect(Object.entries(resolved)).toEqual([["__proto__", 1]]);
});

test.each<[Record<string, unknown>, boolean]>([
  [{}, false],
  [{ a: 1, b: { deep: () => 1 } }, false],
  [{ a: () => 1 }, true],
  [{ a: literal(1) }, true],
])("%o has lazy values: %s", (values, expected) => {
  expect(hasLazy(values)).toBe(expected);
});
