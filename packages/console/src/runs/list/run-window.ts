// The part of the list of runs that is loaded: a window without gaps, from newer to older, which grows at both ends and
// is cut at the other one when it gets too long.

import type { Page, RunSummary } from "../../api/types.ts";

export interface RunWindow {
  readonly rows: readonly RunSummary[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  /** After which the next older page begins. With a search it may be further than the last row. */
  readonly oldest: string | null;
  /** Before which the next newer page ends. */
  readonly newest: string | null;
}

/** How many rows are kept. */
export const maxRows = 2_000;

export const emptyWindow: RunWindow = {
  rows: [],
  hasNewer: false,
  hasOlder: false,
  oldest: null,
  newest: null,
};

/** A window that begins with a page; `hasNewer` if it is not the newest one. */
export function windowOf(page: Page<RunSummary>, hasNewer = false): RunWindow {
  return { rows: page.data, hasNewer, hasOlder: page.has_more, oldest: page.last_id, newest: page.first_id };
}

/** The window at the other end: of a page that was read from the oldest run on. */
export function windowOfOldest(page: Page<RunSummary>): RunWindow {
  return {
    rows: page.data.toReversed(),
    hasNewer: page.has_more,
    hasOlder: false,
    oldest: page.first_id,
    newest: page.last_id,
  };
}

/** Adds the page after the window. */
export function addOlder(window: RunWindow, page: Page<RunSummary>): RunWindow {
  const rows = [...window.rows, ...unknownIn(window.rows, page.data)];
  const oldest = page.last_id ?? window.oldest;
  if (rows.length <= maxRows) return { ...window, rows, hasOlder: page.has_more, oldest };
  const kept = rows.slice(-maxRows);
  return { rows: kept, hasNewer: true, newest: kept[0]?.id ?? null, hasOlder: page.has_more, oldest };
}

/** Adds the page before the window. */
export function addNewer(window: RunWindow, page: Page<RunSummary>): RunWindow {
  const rows = [...unknownIn(window.rows, page.data), ...window.rows];
  const newest = page.first_id ?? window.newest;
  if (rows.length <= maxRows) return { ...window, rows, hasNewer: page.has_more, newest };
  const kept = rows.slice(0, maxRows);
  return { rows: kept, hasOlder: true, oldest: kept.at(-1)?.id ?? null, hasNewer: page.has_more, newest };
}

/**
 * Reads the newest page again: new runs come in at the top, known ones change in place, those that are gone go. Where
 * so many are new that some between are not known, they stay unread until someone scrolls there.
 */
export function mergeNewest(window: RunWindow, page: Page<RunSummary>): RunWindow {
  const isWhole = !page.has_more;
  if (window.rows.length === 0 || (isWhole && !window.hasNewer)) return sameRows(window, windowOf(page));
  const known = new Set(window.rows.map(({ id }) => id));
  const meets = page.data.some(({ id }) => known.has(id));
  if (window.hasNewer || !meets)
    return { ...mergeRange(window, page.data), hasNewer: window.hasNewer || page.data.length > 0 };
  const last = page.data.at(-1);
  const older = window.rows.filter((row) => last !== undefined && isOlder(row, last));
  const rows = [...page.data, ...older];
  const merged = rows.length > maxRows ? rows.slice(0, maxRows) : rows;
  const isCut = merged.length < rows.length;
  return sameRows(window, {
    rows: merged,
    hasNewer: false,
    newest: page.first_id,
    hasOlder: older.length > 0 ? window.hasOlder || isCut : page.has_more,
    oldest: isCut || older.length === 0 ? (merged.at(-1)?.id ?? null) : window.oldest,
  });
}

/** Changes rows of the window that were read again, and adds none. */
export function mergeRange(window: RunWindow, rows: readonly RunSummary[]): RunWindow {
  const fresh = new Map(rows.map((row) => [row.id, row]));
  return sameRows(window, { ...window, rows: window.rows.map((row) => fresh.get(row.id) ?? row) });
}

function unknownIn(rows: readonly RunSummary[], more: readonly RunSummary[]): RunSummary[] {
  const known = new Set(rows.map(({ id }) => id));
  return more.filter(({ id }) => !known.has(id));
}

function isOlder(row: RunSummary, than: RunSummary): boolean {
  if (row.created_at_ms !== than.created_at_ms) return row.created_at_ms < than.created_at_ms;
  return row.id < than.id;
}

/** The new window, with the old objects for rows that did not change, so that these are not drawn again. */
function sameRows(old: RunWindow, window: RunWindow): RunWindow {
  const before = new Map(old.rows.map((row) => [row.id, row]));
  const rows = window.rows.map((row) => {
    const known = before.get(row.id);
    return known && (known === row || JSON.stringify(known) === JSON.stringify(row)) ? known : row;
  });
  const isSame = rows.length === old.rows.length && rows.every((row, index) => row === old.rows[index]);
  return { ...window, rows: isSame ? old.rows : rows };
}
