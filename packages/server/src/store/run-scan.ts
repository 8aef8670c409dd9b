// How a page of `listRuns` is found: one filter leads through an index, the others are checked on the way, for so many
// responses at most. So a page costs about the same, whatever is asked for.

import type { ListRunsOptions } from "./store.ts";

/** How many responses are read for one page. */
export const maxScanned = 5000;

/** The filters that have an index. */
type IndexedFilter = "thread" | "status" | "source" | "model" | "background";

/** What is known of a list before it is read. */
export interface RunScan {
  /** The filter whose index is used; undefined for that of the owner. */
  readonly by: IndexedFilter | undefined;
  /** The other ones of these. */
  readonly checked: readonly Exclude<IndexedFilter, "thread">[];
  /** Ids from the first on, and before the second. */
  readonly idRange: readonly [string, string] | undefined;
  /** The spellings of each character of what the title must contain. */
  readonly title: readonly (readonly string[])[] | undefined;
  /** Whether rows are left out on the way, so that their number has to be limited. */
  readonly isFiltered: boolean;
}

const idPrefix = /^resp_\w{4,}$/;

export function planScan(options: ListRunsOptions): RunScan {
  const { search, onlyRoots = false } = options;
  // Most responses are completed: other states lead to fewer.
  const order: readonly IndexedFilter[] =
    options.status === "completed"
      ? ["thread", "source", "model", "status", "background"]
      : ["thread", "status", "source", "model", "background"];
  const [by, ...checked] = order.filter((name) => options[name] !== undefined);
  const isId = search !== undefined && idPrefix.test(search);
  const title = search === undefined || isId ? undefined : spellings(search);
  return {
    by,
    checked: checked as RunScan["checked"],
    // Ids have letters, digits and _, which all come before ~.
    idRange: isId ? [search, `${search}~`] : undefined,
    title,
    isFiltered: checked.length > 0 || onlyRoots || title !== undefined,
  };
}

/** Each character in lower and upper case. */
function spellings(text: string): string[][] {
  return Array.from(text.toWellFormed(), (character) => [
    ...new Set([character, character.toLowerCase(), character.toUpperCase()].filter(isOne)),
  ]);
}

function isOne(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) ?? 0) > 0xff_ff);
}

/** Whether a title contains characters in one of their spellings. */
export function titleMatches(title: string | null, wanted: NonNullable<RunScan["title"]>): boolean {
  const characters = Array.from(title ?? "");
  return characters.some((_, start) =>
    wanted.every((each, index) => each.includes(characters[start + index] ?? "")),
  );
}
