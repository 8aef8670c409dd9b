// Pages of a list that is in memory.

import { unknownCursor } from "../rules.ts";
import type { ListOptions, Page } from "../store.ts";

/**
 * A page of `all`, which is in ascending order. `after` and `before` name entries of `all`, whether they match
 * or not. With `before` alone it is the page that ends there, and `hasMore` says whether others lie before it.
 */
export function pageOf<T>(
  all: readonly T[],
  { limit, order, after, before }: ListOptions,
  { idOf, isMatch = () => true }: { idOf: (entry: T) => string; isMatch?: (entry: T) => boolean },
): Page<T> {
  const inOrder = order === "asc" ? all : all.toReversed();
  const place = (parameter: "after" | "before", id: string): number => {
    const index = inOrder.findIndex((entry) => idOf(entry) === id);
    if (index === -1) throw unknownCursor(parameter, id);
    return index;
  };
  const start = after === undefined ? 0 : place("after", after) + 1;
  const end = before === undefined ? inOrder.length : place("before", before);
  const matches = inOrder.slice(start, end).filter(isMatch);
  const isFromEnd = before !== undefined && after === undefined;
  return {
    data: isFromEnd ? matches.slice(-limit) : matches.slice(0, limit),
    hasMore: matches.length > limit,
  };
}
