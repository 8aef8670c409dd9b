import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Page, RunSummary } from "../../api/types.ts";
import { readFilters, toPlaceQuery, toRequestQuery } from "./filters.ts";
import {
  addNewer,
  addOlder,
  emptyWindow,
  maxRows,
  mergeNewest,
  type RunWindow,
  windowOf,
  windowOfOldest,
} from "./run-window.ts";

const run = (number: number, status: RunSummary["status"] = "completed") =>
  ({ id: `resp_${String(number).padStart(6, "0")}`, created_at_ms: number, status }) as RunSummary;

/** Runs as the server lists them, newest first. */
class Listed {
  runs: RunSummary[];
  constructor(count: number) {
    this.runs = Array.from({ length: count }, (_, index) => run(count - index));
  }
  page({
    after,
    before,
    limit = 10,
  }: {
    after?: string | null;
    before?: string | null;
    limit?: number;
  } = {}) {
    const at = (id: string) => this.runs.findIndex((each) => each.id === id);
    const end = before ? at(before) : this.runs.length;
    const start = after ? at(after) + 1 : before ? Math.max(0, end - limit) : 0;
    return toPage(
      this.runs.slice(start, Math.min(end, start + limit)),
      before ? start > 0 : start + limit < end,
    );
  }
}

function toPage(data: RunSummary[], hasMore: boolean): Page<RunSummary> {
  return { data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

const ids = ({ rows }: RunWindow) => rows.map(({ created_at_ms: number }) => number);

describe("the loaded part of the list", () => {
  test("takes in new runs at the top, changes known ones in place, and keeps what did not change", () => {
    const listed = new Listed(30);
    const before = windowOf(listed.page());
    listed.runs = [run(31), ...listed.runs.with(2, run(28, "failed")).filter((_, index) => index !== 4)];
    const after = mergeNewest(before, listed.page());
    expect(ids(after)).toEqual([31, 30, 29, 28, 27, 25, 24, 23, 22, 21]);
    expect(after.rows[3]?.status).toBe("failed");
    expect(after.rows[1]).toBe(before.rows[0]);
    expect(mergeNewest(after, listed.page())).toMatchObject({ rows: after.rows });
    expect(mergeNewest(after, listed.page()).rows).toBe(after.rows);
  });

  test("leaves a gap unread when too many came at once, and reads it from below", () => {
    const listed = new Listed(20);
    const before = windowOf(listed.page());
    listed.runs = new Listed(60).runs;
    const gap = mergeNewest(before, listed.page());
    expect([gap.hasNewer, ids(gap)]).toEqual([true, ids(before)]);
    const closed = addNewer(gap, listed.page({ before: gap.newest }));
    expect(ids(closed).slice(0, 11)).toEqual([30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20]);
    expect(closed.hasNewer).toBe(true);
  });

  test("from the oldest on grows upwards", () => {
    const listed = new Listed(25);
    const oldest = windowOfOldest(toPage(listed.runs.slice(-10).toReversed(), true));
    expect([ids(oldest)[0], ids(oldest).at(-1), oldest.hasOlder]).toEqual([10, 1, false]);
    expect(ids(addNewer(oldest, listed.page({ before: oldest.newest }))).slice(0, 2)).toEqual([20, 19]);
  });

  test("never has gaps, doubles or too many rows, however one scrolls while runs come and go", () => {
    const step = fc.constantFrom("older", "newer", "poll", "run", "end", "delete");
    fc.assert(
      fc.property(fc.nat(200), fc.array(step, { maxLength: 60 }), (count, steps) => {
        const listed = new Listed(count);
        let window = mergeNewest(emptyWindow, listed.page());
        for (const each of steps) {
          if (each === "run") listed.runs = [run((listed.runs[0]?.created_at_ms ?? 0) + 1), ...listed.runs];
          if (each === "delete" && listed.runs.length > 0) listed.runs = listed.runs.slice(1);
          if (each === "poll" || each === "delete") window = mergeNewest(window, listed.page());
          if (each === "older" && window.hasOlder)
            window = addOlder(window, listed.page({ after: window.oldest }));
          if (each === "newer" && window.hasNewer && listed.runs.some(({ id }) => id === window.newest))
            window = addNewer(window, listed.page({ before: window.newest }));
          if (each === "end")
            window = windowOfOldest(toPage(listed.runs.slice(-10).toReversed(), listed.runs.length > 10));
          const numbers = ids(window);
          expect(new Set(numbers).size).toBe(numbers.length);
          const all = listed.runs.map(({ created_at_ms: number }) => number);
          const there = numbers.filter((number) => all.includes(number));
          const from = all.indexOf(there[0] ?? -1);
          expect(there).toEqual(there.length === 0 ? [] : all.slice(from, from + there.length));
        }
      }),
    );
  });

  test("is cut at the other end when it gets too long", () => {
    const listed = new Listed(maxRows + 50);
    let window = windowOf(listed.page({ limit: maxRows }));
    window = addOlder(window, listed.page({ after: window.oldest }));
    expect([window.rows.length, window.hasNewer, window.newest]).toEqual([maxRows, true, window.rows[0]?.id]);
    window = addNewer(window, listed.page({ before: window.newest }));
    expect([window.rows.length, window.hasOlder, ids(window)[0]]).toEqual([maxRows, true, maxRows + 50]);
  });
});

test("filters stand in the place and in the request, and what is unknown is left out", () => {
  const filters = readFilters(
    new URLSearchParams("status=failed&model=a%26b&background=true&since=1h&search=%3Cb%3E&x=1&source="),
  );
  expect(new URLSearchParams(toPlaceQuery(filters)).toString()).toBe(
    "search=%3Cb%3E&status=failed&model=a%26b&background=true&since=1h",
  );
  expect(toRequestQuery(filters, 3_600_500).get("created_after_ms")).toBe("500");
  expect(readFilters(new URLSearchParams("status=x&background=maybe&since=ever"))).toMatchObject({
    status: "",
    background: "",
    since: "",
  });
});
