// The axis of time: which part of the run is shown, its ticks, and which bars are worth drawing.

import type { Bar } from "./lane-book.ts";

/** The part of the run that is shown, in milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The shortest part that can be zoomed to. */
const minSpanMs = 0.5;

/** Zooms by a factor (2: half as much is shown) around a point, from 0 (left) to 1 (right). */
export function zoom({ from, to }: Span, factor: number, at: number, end: number): Span {
  const length = Math.min(end, Math.max(minSpanMs, (to - from) / factor));
  return within(from + (to - from - length) * at, length, end);
}

/** Moves by a share of what is shown: 0.5 is half a screen to the right. */
export function pan({ from, to }: Span, share: number, end: number): Span {
  return within(from + (to - from) * share, to - from, end);
}

function within(from: number, length: number, end: number): Span {
  const start = Math.max(0, Math.min(from, end - length));
  return { from: start, to: start + length };
}

/** Round times, about `count` of them. */
export function ticks({ from, to }: Span, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step);
}

export interface PlacedBar {
  readonly bar: Bar;
  /** From 0 to 1. */
  readonly left: number;
  readonly width: number;
  /** How many bars it stands for: those beside it that would not be seen apart. */
  readonly count: number;
}

/** The bars in the part that is shown. Neighbours of one kind that fall into the same pixels become one. */
export function placeBars(bars: readonly Bar[], span: Span, pixels: number): PlacedBar[] {
  const length = span.to - span.from;
  const pixel = 1 / Math.max(1, pixels);
  const placed: { bar: Bar; left: number; right: number; count: number }[] = [];
  for (const bar of bars) {
    if (bar.to < span.from || bar.from > span.to) continue;
    const left = Math.max(0, (bar.from - span.from) / length);
    const right = Math.min(1, (bar.to - span.from) / length);
    const last = placed.at(-1);
    const isTiny = right - left < 2 * pixel;
    if (
      last &&
      isTiny &&
      last.bar.kind === bar.kind &&
      left - last.right < 2 * pixel &&
      bar.error === undefined
    ) {
      last.right = Math.max(last.right, right);
      last.count += 1;
    } else placed.push({ bar, left, right, count: 1 });
  }
  return placed.map(({ bar, left, right, count }) => ({
    bar,
    left,
    width: Math.max(0, right - left),
    count,
  }));
}
