import fc from "fast-check";
import { expect, test } from "vitest";
import { Deque } from "./deque.ts";

test("an empty queue has nothing to give", () => {
  const deque = new Deque();
  expect(deque.size).toBe(0);
  expect(deque.peek()).toBeUndefined();
  expect(deque.shift()).toBeUndefined();
  expect([...deque]).toEqual([]);
});

test("undefined counts as an item", () => {
  const deque = new Deque<undefined>();
  deque.push(undefined);
  expect(deque.size).toBe(1);
  deque.shift();
  expect(deque.size).toBe(0);
});

test("behaves as a list from which one shifts", () => {
  const step = fc.oneof(fc.constant("shift" as const), fc.integer());
  fc.assert(
    fc.property(fc.array(step, { size: "medium" }), (steps) => {
      const deque = new Deque<number>();
      const list: number[] = [];
      for (const step of steps) {
        const apply = (queue: Pick<Deque<number>, "push" | "shift">) => {
          if (step === "shift") return queue.shift();
          queue.push(step);
          return undefined;
        };
        expect(apply(deque)).toBe(apply(list));
        expect(deque.size).toBe(list.length);
        expect(deque.peek()).toBe(list[0]);
        expect([...deque]).toEqual(list);
      }
    }),
  );
});
