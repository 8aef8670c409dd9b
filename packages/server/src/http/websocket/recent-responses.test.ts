import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../engine/conversation.ts";
import { RecentResponses } from "./recent-responses.ts";

function entry(text: string): Entry {
  return { item: { type: "message", role: "user", content: text } };
}

const sizeOf = (entries: Iterable<Entry>) =>
  [...new Set(entries)].reduce((sum, { item }) => sum + Buffer.byteLength(JSON.stringify(item)), 0);

test("the newest responses are kept", () => {
  const recent = new RecentResponses({ responses: 2, bytes: 1e6, ownerBytes: Infinity });
  for (const id of ["a", "b", "c"]) recent.add(id, [entry(id)]);
  expect(["a", "b", "c"].map((id) => recent.get(id) !== undefined)).toEqual([false, true, true]);
});

test("entries that two conversations share count once", () => {
  const recent = new RecentResponses({ responses: 10, bytes: 1e6, ownerBytes: Infinity });
  const shared = entry("é".repeat(100));
  recent.add("a", [shared]);
  const { bytes } = recent;
  expect(bytes).toBe(sizeOf([shared]));
  recent.add("b", [shared]);
  expect(recent.bytes).toBe(bytes);
  recent.delete("a");
  expect(recent.bytes).toBe(bytes);
  recent.delete("b");
  expect(recent.bytes).toBe(0);
});

test("a conversation above the limit is not kept", () => {
  const recent = new RecentResponses({ responses: 10, bytes: 100, ownerBytes: Infinity });
  recent.add("a", [entry("x".repeat(200))]);
  expect(recent.get("a")).toBeUndefined();
  expect(recent.bytes).toBe(0);
});

test("whatever is added and deleted, the limits hold and the sum is right", () => {
  const pool = Array.from({ length: 6 }, (_, index) => entry("x".repeat(index * 20)));
  const id = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(
    fc.record({ id, entries: fc.uniqueArray(fc.constantFrom(...pool)) }),
    fc.record({ id, entries: fc.constant(undefined) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const recent = new RecentResponses({ responses: 3, bytes: 400, ownerBytes: Infinity });
      for (const { id: name, entries } of steps) {
        if (entries) recent.add(name, entries);
        else recent.delete(name);
        const kept = ["a", "b", "c", "d", "e"].flatMap((known) => recent.get(known) ?? []);
        expect(recent.bytes).toBe(sizeOf(kept));
        expect(recent.bytes).toBeLessThanOrEqual(400);
        expect(recent.size).toBeLessThanOrEqual(3);
      }
      recent.close();
      expect([recent.bytes, recent.size]).toEqual([0, 0]);
    }),
  );
});

test("the connections of an owner share a limit of bytes", () => {
  const shared = { bytes: 0 };
  const limits = { responses: 10, bytes: 10_000, ownerBytes: 1500 };
  const [one, other] = [new RecentResponses(limits, shared), new RecentResponses(limits, shared)];
  one.add("a", [entry("a".repeat(1000))]);
  other.add("b", [entry("b".repeat(1000))]);
  expect([one.size, other.size]).toEqual([1, 0]);
  expect(shared.bytes).toBe(one.bytes);
  one.close();
  one.add("late", [entry("x")]);
  expect(shared.bytes).toBe(0);
  other.add("b", [entry("b".repeat(1000))]);
  expect(other.size).toBe(1);
});
