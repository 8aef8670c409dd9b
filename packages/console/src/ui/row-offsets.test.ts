import fc from "fast-check";
import { expect, test } from "vitest";
import { equalOffsets, MeasuredRows } from "./row-offsets.ts";

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
      const offsets = new MeasuredRows(list.length, 30, (index) => list[index]).offsets();
      const index = offsets.indexAt(y);
      const isThere = offsets.top(index) <= y && offsets.top(index + 1) > y;
      expect(y < offsets.total ? isThere : index === list.length - 1).toBe(true);
      expect(offsets.total).toBe(list.reduce<number>((sum, height) => sum + (height ?? 30), 0));
    }),
  );
});

test("a row that turns out to be higher moves those after it", () => {
  const rows = new MeasuredRows(4, 30, (index) => (index === 0 ? 10 : undefined));
  const before = rows.offsets();
  expect([rows.set(1, 30.2), rows.set(2, 50), rows.set(9, 5)]).toEqual([false, true, false]);
  const tops = (offsets: typeof before) => [0, 1, 2, 3, 4].map((index) => offsets.top(index));
  expect(tops(before)).toEqual([0, 10, 40, 70, 100]);
  expect(tops(rows.offsets())).toEqual([0, 10, 40, 90, 120]);
});
