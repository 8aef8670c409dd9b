// What of a virtual list is in view. The first row in view stays at its place when rows before it come, go or grow.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { RowOffsets } from "./row-offsets.ts";

export interface ListScrollingOptions {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly head: RefObject<HTMLDivElement | null>;
  readonly offsets: RowOffsets;
  readonly count: number;
  readonly keyAt: (index: number) => string;
  readonly indexOf: (key: string) => number;
  readonly follows: "start" | "end" | undefined;
  readonly initialTop: number;
  readonly onRange: ((first: number, last: number) => void) | undefined;
  readonly onScrolled: ((top: number) => void) | undefined;
}

export interface ListScrolling {
  /** The rows to draw. */
  readonly range: Signal<{ readonly first: number; readonly last: number }>;
  readonly scrolled: () => void;
  readonly firstInView: () => number;
  readonly scrollTo: (top: number) => void;
  /** Scrolls as little as needed to show a row. */
  readonly show: (index: number) => void;
}

/** Rows that are drawn beyond those in view; fewer where a jump leads, as the next one may lead on. */
const overscan = 8;
const overscanOfJumps = 1;

export function useListScrolling(options: ListScrollingOptions): ListScrolling {
  const { box, head, offsets, count } = options;
  const range = useSignal({ first: 0, last: -1 });
  const latest = useRef(options);
  latest.current = options;
  /** The first row in view, and how far it is scrolled out of it. */
  const anchor = useRef<{ key: string; by: number } | undefined>(undefined);
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const isJump = useRef(false);

  const look = () => {
    const element = box.current;
    const now = latest.current;
    if (!element) return;
    const top = element.scrollTop;
    const height = element.clientHeight - (head.current?.offsetHeight ?? 0);
    if (now.count === 0) {
      anchor.current = undefined;
      range.value = { first: 0, last: -1 };
      now.onRange?.(0, -1);
      return;
    }
    const first = now.offsets.indexAt(top);
    const last = now.offsets.indexAt(top + height);
    isAtEnd.current = top + element.clientHeight >= element.scrollHeight - 2;
    const followsStart = now.follows === "start" && top <= 0 && !element.matches(":hover, :focus-within");
    anchor.current = followsStart ? undefined : { key: now.keyAt(first), by: top - now.offsets.top(first) };
    const { first: drawnFirst, last: drawnLast } = range.peek();
    const isDrawn =
      first >= drawnFirst && last <= drawnLast && drawnLast - drawnFirst <= last - first + 3 * overscan;
    const more = isJump.current ? overscanOfJumps : overscan;
    if (!isDrawn)
      range.value = { first: Math.max(0, first - more), last: Math.min(now.count - 1, last + more) };
    now.onRange?.(first, last);
  };

  // Before the browser draws: put what was in view back to its place.
  const wasAtEnd = isAtEnd.current;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const held = anchor.current;
    if (latest.current.follows === "end" && wasAtEnd) element.scrollTop = element.scrollHeight;
    else if (held) {
      const index = latest.current.indexOf(held.key);
      const top = index < 0 ? element.scrollTop : offsets.top(index) + held.by;
      if (Math.abs(top - element.scrollTop) >= 1) element.scrollTop = top;
    }
    // The rows may be others now, at the same place.
    range.value = { first: 0, last: -1 };
    look();
  }, [offsets, count]);

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    element.scrollTop = latest.current.initialTop;
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  return {
    range,
    scrolled: () => {
      const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
      isJump.current = Math.abs(scrollTop - lastTop.current) > clientHeight;
      lastTop.current = scrollTop;
      look();
      options.onScrolled?.(box.current?.scrollTop ?? 0);
    },
    firstInView: () => latest.current.offsets.indexAt(box.current?.scrollTop ?? 0),
    scrollTo(top) {
      box.current?.scrollTo({ top });
      look(); // the event comes later, and rows may come before it
    },
    show(index) {
      const element = box.current;
      if (!element) return;
      const height = element.clientHeight - (head.current?.offsetHeight ?? 0);
      const from = offsets.top(index);
      const to = offsets.top(index + 1);
      if (from < element.scrollTop) element.scrollTop = from;
      else if (to > element.scrollTop + height) element.scrollTop = to - height;
      look();
    },
  };
}
