import fc from "fast-check";
import { expect, test } from "vitest";
import { TextStore } from "./text-store.ts";

test("returns any part of the added text", () => {
  const adding = fc.array(
    fc.oneof(
      fc.string(),
      fc.string().map((text) => text.padEnd(1500, "é")),
    ),
  );
  fc.assert(
    fc.property(adding, adding, fc.nat(6000), fc.nat(6000), fc.nat(6000), (first, second, length, a, b) => {
      const kept = new TextStore();
      for (const piece of first) kept.add(piece);
      let all = first.join("");
      expect(kept.pieces(a, Math.min(b, all.length)).join("")).toBe(a < b ? all.slice(a, b) : "");
      kept.truncate(length);
      for (const piece of second) kept.add(piece);
      all = all.slice(0, length) + second.join("");
      expect(kept.length).toBe(all.length);
      expect(kept.pieces(a, Math.min(b, all.length)).join("")).toBe(a < b ? all.slice(a, b) : "");
    }),
  );
});

test("single characters are put together", () => {
  const kept = new TextStore();
  for (let i = 0; i < 10_000; i++) kept.add("x");
  expect(kept.pieces(0, 10_000).length).toBeLessThan(20);
});
