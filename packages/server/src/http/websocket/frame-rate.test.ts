import { expect, test } from "vitest";
import { FrameRate } from "./frame-rate.ts";

function taken(rate: FrameRate, count: number, nowMs: number): number {
  return Array.from({ length: count }, () => rate.take(nowMs)).filter(Boolean).length;
}

test("a minute's frames may come in one burst, and no more", () => {
  expect(taken(new FrameRate(60, 0), 100, 0)).toBe(60);
});

test("the bucket refills evenly, and never beyond a minute's frames", () => {
  const rate = new FrameRate(60, 0);
  taken(rate, 60, 0);
  expect(taken(rate, 10, 2000)).toBe(2);
  expect(taken(rate, 100, 3_600_000)).toBe(60);
});
