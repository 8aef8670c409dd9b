import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../engine/conversation.ts";
import { Memory } from "./memory.ts";

function entry(text: string): Entry {
  return { item: { type: "message", role: "user", content: text } };
}

const sizeOf = (entries: Iterable<Entry>) =>
  [...new Set(entries)].reduce((sum, { item }) => sum + Buffer.byteLength(JSON.stringify(item)), 0);

test("the newest responses are kept", () => {
  const memory = new Memory({ responses: 2, bytes: 1e6, ownerBytes: Infinity });
  for (const id of ["a", "b", "c"]) memory.keep(id, [entry(id)]);
  expect(["a", "b", "c"].map((id) => memory.recall(id) !== undefined)).toEqual([false, true, true]);
});

test("what two conversations share counts once", () => {
  const memory = new Memory({ responses: 10, bytes: 1e6, ownerBytes: Infinity });
  const shared = entry("é".repeat(100));
  memory.keep("a", [shared]);
  const { bytes } = memory;
  expect(bytes).toBe(sizeOf([shared]));
  memory.keep("b", [shared]);
  expect(memory.bytes).toBe(bytes);
  memory.forget("a");
  expect(memory.bytes).toBe(bytes);
  memory.forget("b");
  expect(memory.bytes).toBe(0);
});

test("a conversation that alone is too large is not kept", () => {
  const memory = new Memory({ responses: 10, bytes: 100, ownerBytes: Infinity });
  memory.keep("a", [entry("x".repeat(200))]);
  expect(memory.recall("a")).toBeUndefined();
  expect(memory.bytes).toBe(0);
});

test("whatever is kept and forgotten, the limits hold and the sum is right", () => {
  const pool = Array.from({ length: 6 }, (_, index) => entry("x".repeat(index * 20)));
  const id = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(
    fc.record({ id, entries: fc.uniqueArray(fc.constantFrom(...pool)) }),
    fc.record({ id, entries: fc.constant(undefined) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const memory = new Memory({ responses: 3, bytes: 400, ownerBytes: Infinity });
      for (const { id: name, entries } of steps) {
        if (entries) memory.keep(name, entries);
        else memory.forget(name);
        const kept = ["a", "b", "c", "d", "e"].flatMap((known) => memory.recall(known) ?? []);
        expect(memory.bytes).toBe(sizeOf(kept));
        expect(memory.bytes).toBeLessThanOrEqual(400);
        expect(memory.size).toBeLessThanOrEqual(3);
      }
      memory.close();
      expect([memory.bytes, memory.size]).toEqual([0, 0]);
    }),
  );
});

test("all connections of an owner keep only so much together", () => {
  const shared = { bytes: 0 };
  const limits = { responses: 10, bytes: 10_000, ownerBytes: 1500 };
  const [one, other] = [new Memory(limits, shared), new Memory(limits, shared)];
  one.keep("a", [entry("a".repeat(1000))]);
  other.keep("b", [entry("b".repeat(1000))]);
  expect([one.size, other.size]).toEqual([1, 0]);
  expect(shared.bytes).toBe(one.bytes);
  one.close();
  one.keep("late", [entry("x")]);
  expect(shared.bytes).toBe(0);
  other.keep("b", [entry("b".repeat(1000))]);
  expect(other.size).toBe(1);
});
