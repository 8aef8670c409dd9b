// Loads the list of runs: the newest page again and again while it is visible, others as someone scrolls to them.

import { signal } from "@preact/signals";
import { get, isAbort } from "../../api/api.ts";
import { isRunning } from "../../api/response.ts";
import { serverNow } from "../../api/server-clock.ts";
import type { Page, RunSummary } from "../../api/types.ts";
import { type RunFilters, toRequestQuery } from "./filters.ts";
import {
  addNewer,
  addOlder,
  emptyWindow,
  mergeNewest,
  mergeRange,
  type RunWindow,
  windowOf,
  windowOfOldest,
} from "./run-window.ts";

const pageSize = 100;
const newestSize = 50;
const pollMs = 2_000;
/** How close to an end of the window the next page is loaded. */
const nearRows = 40;

/** The runs of one set of filters. */
export class RunList {
  readonly window = signal<RunWindow>(emptyWindow);
  readonly isLoaded = signal(false);
  readonly error = signal<Error | undefined>(undefined);
  readonly isReadingOlder = signal(false);
  /** Counts jumps to another part of the list. */
  readonly jumps = signal<{ readonly count: number; readonly to: "start" | "end" }>({
    count: 0,
    to: "start",
  });
  /** How far it is scrolled, for when the list is shown again. */
  scrollTop = 0;
  activeKey = signal<string | undefined>(undefined);
  readonly filters: RunFilters;
  #leaving = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReadingNewer = false;
  #inView: readonly [first: number, last: number] = [0, -1];

  constructor(filters: RunFilters) {
    this.filters = filters;
  }

  /** Loads while it is shown. `at`: after which run it begins, if nothing is loaded yet. */
  show(at: string | undefined): () => void {
    this.#leaving = new AbortController();
    void this.#begin(at);
    return () => {
      this.#leaving.abort();
      clearTimeout(this.#timer);
      document.removeEventListener("visibilitychange", this.#whenVisible);
      this.isReadingOlder.value = false;
      this.#isReadingNewer = false;
    };
  }

  /** Which rows are in view: what comes next is loaded. */
  inView(first: number, last: number): void {
    this.#inView = [first, last];
    const { rows, hasOlder, hasNewer } = this.window.peek();
    if (hasOlder && last >= rows.length - nearRows) void this.#readOlder();
    if (hasNewer && first < nearRows) void this.#readNewer();
  }

  async reload(): Promise<void> {
    this.isLoaded.value = false;
    await this.jump("start");
    this.#poll();
  }

  /** Shows the newest or the oldest runs. */
  async jump(to: "start" | "end"): Promise<void> {
    await this.#read(async () => {
      const query = to === "start" ? { limit: newestSize } : { limit: pageSize, order: "asc" };
      const page = await this.#page(query);
      this.window.value = to === "start" ? windowOf(page) : windowOfOldest(page);
      this.isLoaded.value = true;
      this.jumps.value = { count: this.jumps.peek().count + 1, to };
    });
  }

  async #begin(at: string | undefined): Promise<void> {
    if (!this.isLoaded.peek() && at !== undefined) {
      const page = await this.#page({ limit: pageSize, after: at }).catch(() => undefined);
      if (page && page.data.length > 0) {
        this.window.value = { ...windowOf(page, true), newest: page.data[0]?.id ?? null };
        this.isLoaded.value = true;
      }
    }
    await this.#refresh();
    this.#poll();
  }

  #poll(): void {
    clearTimeout(this.#timer);
    if (!this.#leaving.signal.aborted) this.#timer = setTimeout(this.#whenVisible, pollMs);
  }

  readonly #whenVisible = () => {
    if (document.visibilityState === "visible") void this.#refresh().then(() => this.#poll());
    else document.addEventListener("visibilitychange", this.#whenVisible, { once: true });
  };

  async #refresh(): Promise<void> {
    await this.#read(async () => {
      const newest = await this.#page({ limit: newestSize });
      this.window.value = mergeNewest(this.window.peek(), newest);
      this.isLoaded.value = true;
      await this.#refreshInView(new Set(newest.data.map(({ id }) => id)));
      this.inView(...this.#inView);
    });
  }

  /** Runs that are not over, further down. */
  async #refreshInView(known: ReadonlySet<string>): Promise<void> {
    const [first, last] = this.#inView;
    const { rows } = this.window.peek();
    const before = rows[first - 1];
    const isStale = rows.slice(first, last + 1).some((row) => isRunning(row) && !known.has(row.id));
    if (!before || !isStale) return;
    const page = await this.#page({ limit: Math.min(pageSize, last - first + 1), after: before.id });
    this.window.value = mergeRange(this.window.peek(), page.data);
  }

  async #readOlder(): Promise<void> {
    if (this.isReadingOlder.peek()) return;
    this.isReadingOlder.value = true;
    await this.#read(async () => {
      const { oldest, rows } = this.window.peek();
      const after = oldest ?? rows.at(-1)?.id;
      const page = await this.#page({ limit: pageSize, ...(after !== undefined && { after }) });
      // A jump may have put others in their place meanwhile.
      if (this.window.peek().oldest === oldest) this.window.value = addOlder(this.window.peek(), page);
    });
    this.isReadingOlder.value = false;
    // With a search, a page may have had no hits.
    if (!this.#leaving.signal.aborted && !this.error.peek()) this.inView(...this.#inView);
  }

  async #readNewer(): Promise<void> {
    if (this.#isReadingNewer) return;
    this.#isReadingNewer = true;
    await this.#read(async () => {
      const { newest, rows } = this.window.peek();
      const before = newest ?? rows[0]?.id;
      const page = await this.#page({ limit: pageSize, ...(before !== undefined && { before }) });
      if (this.window.peek().newest === newest) this.window.value = addNewer(this.window.peek(), page);
    });
    this.#isReadingNewer = false;
  }

  async #page(more: Record<string, string | number>): Promise<Page<RunSummary>> {
    const query = toRequestQuery(this.filters, serverNow());
    for (const [name, value] of Object.entries(more)) query.set(name, String(value));
    return get<Page<RunSummary>>(`v1/runs?${query}`, { signal: this.#leaving.signal });
  }

  async #read(load: () => Promise<void>): Promise<void> {
    try {
      await load();
      this.error.value = undefined;
    } catch (caught) {
      if (this.#leaving.signal.aborted || isAbort(caught)) return;
      this.error.value = caught instanceof Error ? caught : new Error(String(caught));
    }
  }
}
