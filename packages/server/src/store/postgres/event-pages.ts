// Pages of events that several followers of a run read at the same time: news wake them all at once, and one query is
// enough for them. A page is never older than the newest news of its run, so that none of them misses what it was woken
// for.

import type { StoredEvent } from "../store.ts";

/** For how long a page is given again: until the slowest of those that were woken together has asked. */
export const sharedMs = 100;
/** How much is kept at most, in characters. */
const maxChars = 4_000_000;

interface Page {
  readonly owner: string;
  readonly after: number;
  readonly limit: number;
  readonly events: Promise<readonly StoredEvent[]>;
  readonly atMs: number;
  chars: number;
}

export class EventPages {
  readonly #pages = new Map<string, Page>();
  readonly #read: EventReader;
  #chars = 0;

  constructor(read: EventReader) {
    this.#read = read;
  }

  async events(owner: string, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
    const page = this.#pages.get(id);
    if (page && isFor(page, owner, after, limit)) {
      const found = (await page.events).filter(({ sequence }) => sequence > after).slice(0, limit);
      if (found.length > 0) return found;
    }
    return this.#readPage(owner, id, after, limit);
  }

  /** Must be called when a response has changed, before anybody is told. */
  forget(id: string): void {
    this.#drop(id);
  }

  forgetAll(): void {
    for (const id of this.#pages.keys()) this.#drop(id);
  }

  #readPage(owner: string, id: string, after: number, limit: number): Promise<readonly StoredEvent[]> {
    const events = this.#read(owner, id, after, limit);
    const page = { owner, after, limit, events, atMs: performance.now(), chars: 0 };
    this.#drop(id);
    this.#pages.set(id, page);
    setTimeout(() => this.#drop(id, page), sharedMs).unref();
    void this.#measure(id, page);
    return events;
  }

  /** A page that is empty, or one too many, is not kept. */
  async #measure(id: string, page: Page): Promise<void> {
    try {
      const found = await page.events;
      if (this.#pages.get(id) !== page) return;
      page.chars = found.reduce((sum, { data }) => sum + data.length, 0);
      this.#chars += page.chars;
      if (found.length === 0 || this.#chars > maxChars) this.#drop(id, page);
    } catch {
      this.#drop(id, page);
    }
  }

  #drop(id: string, only?: Page): void {
    const page = this.#pages.get(id);
    if (!page || (only && page !== only)) return;
    this.#pages.delete(id);
    this.#chars -= page.chars;
  }
}

function isFor(page: Page, owner: string, after: number, limit: number): boolean {
  const isRecent = performance.now() - page.atMs < sharedMs;
  return isRecent && page.owner === owner && page.after <= after && page.limit >= limit;
}

type EventReader = (
  owner: string,
  id: string,
  after: number,
  limit: number,
) => Promise<readonly StoredEvent[]>;
