// Collects the news of one topic for a reader. A reader that missed events, or was only woken, reads the store again.

import type { News } from "../store/news.ts";
import type { Store, StoredEvent } from "../store/store.ts";

export interface NewsSource {
  readonly news: News;
  readonly store: Pick<Store, "pollMs">;
}

/** How many characters of events wait for a busy reader. Beyond that, it has to read the store. */
const maxBufferedChars = 500_000;

/** Subscribed until it is disposed of. Create it before reading the store, so that nothing is missed in between. */
export class NewsReader implements Disposable {
  #events: StoredEvent[] = [];
  #chars = 0;
  #mustReadStore = false;
  #waiting: PromiseWithResolvers<void> | undefined;
  readonly #unsubscribe: () => void;

  /** It is also woken by the signal, and every `store.pollMs`. */
  constructor({ news, store }: NewsSource, topic: string, signal: AbortSignal) {
    const wake = () => this.#receive();
    const unsubscribe = news.subscribe(topic, (events) => this.#receive(events));
    const timer = store.pollMs === undefined ? undefined : setInterval(wake, store.pollMs);
    signal.addEventListener("abort", wake);
    const stop = () => {
      unsubscribe();
      clearInterval(timer);
      signal.removeEventListener("abort", wake);
    };
    this.#unsubscribe = stop;
    if (signal.aborted) wake();
  }

  /** Resolves when there is something to take, and when it is disposed of. */
  get arrived(): Promise<void> {
    if (this.#mustReadStore || this.#events.length > 0) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** The events that follow the one with the number `after`; undefined if the store has to be read for them. */
  take(after: number): readonly StoredEvent[] | undefined {
    const events = this.#events.filter(({ sequence }) => sequence > after);
    // Another process may have written some of them.
    const hasGap = events.some(({ sequence }, index) => sequence !== after + 1 + index);
    const mustReadStore = this.#mustReadStore || hasGap;
    this.#clear();
    this.#mustReadStore = false;
    return mustReadStore ? undefined : events;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.#receive();
  }

  #receive(events?: readonly StoredEvent[]): void {
    if (!this.#mustReadStore)
      for (const event of events ?? []) {
        this.#events.push(event);
        this.#chars += event.data.length;
      }
    if (!events || this.#chars > maxBufferedChars) {
      this.#clear();
      this.#mustReadStore = true;
    }
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  #clear(): void {
    this.#events = [];
    this.#chars = 0;
  }
}
