import fc from "fast-check";
import { expect, test } from "vitest";
import { equalOffsets, measuredOffsets } from "./row-offsets.ts";

test("rows of one height are found without counting", () => {
  const offsets = equalOffsets(100_000, 40);
  expect([
    offsets.total,
    offsets.top(5),
    offsets.indexAt(215),
    offsets.indexAt(1e9),
    offsets.indexAt(-5),
  ]).toEqual([4_000_000, 200, 5, 99_999, 0]);
});

test("a row is found at each height that it covers, measured or not", () => {
  const heights = fc.array(fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined }), { minLength: 1 });
  fc.assert(
    fc.property(heights, fc.nat(5_000), (list, y) => {
      const offsets = measuredOffsets(list.length, 30, (index) => list[index]);
      const index = offsets.indexAt(y);
      const isThere = offsets.top(index) <= y && offsets.top(index + 1) > y;
      expect(y < offsets.total ? isThere : index === list.length - 1).toBe(true);
      expect(offsets.total).toBe(list.reduce<number>((sum, height) => sum + (height ?? 30), 0));
    }),
  );
});
