// `npm run bench -- --compare`: which rows count as worse.
import { expect, test } from "vitest";
import { worseRows } from "../bench/report/compare.ts";

const row = (value: number | null, isHigherBetter = false) => ({ value, isHigherBetter });

test("rows that got more than 15 % worse are named, the worst first", () => {
  const before = { a: row(1), b: row(2), c: row(3), rate: row(0.5, true) };
  const now = { a: row(1.14), b: row(2.5), c: row(2), rate: row(0.25, true) };
  expect(worseRows(before, now)).toEqual([
    "rate: 0.5 before, 0.25 now (100 % worse)",
    "b: 2 before, 2.5 now (25 % worse)",
  ]);
});

test("rows that only one run has are not compared", () => {
  expect(worseRows({ a: row(null), b: row(1) }, { a: row(9), c: row(9), b: row(null) })).toEqual([]);
});
