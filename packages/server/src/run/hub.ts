// Tells those who follow a response of what is new. What a run has committed is handed on as it is; who has missed
// something, or is told of nothing in particular, looks into the store.

import type { StoredEvent } from "../store/store.ts";

export class Hub {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Tells all who listen to `id` that they have to look. */
  ring(id: string): void {
    for (const listener of this.#listeners.get(id) ?? []) listener.ring();
  }

  /** Tells all who listen to the response `id` of events that were committed. */
  tell(id: string, events: readonly StoredEvent[]): void {
    for (const listener of this.#listeners.get(id) ?? []) listener.tell(events);
  }

  /**
   * Listens until it is disposed of. The listener is rung at least once in `timeoutMs`, and when the signal is
   * aborted. Listen before reading what is there, so that nothing is missed between the two.
   */
  listen(id: string, timeoutMs: number, signal: AbortSignal): Listener {
    const listeners = this.#listeners.get(id) ?? new Set();
    const ring = () => listener.ring();
    const timer = setInterval(ring, timeoutMs);
    const listener = new Listener(() => {
      clearInterval(timer);
      signal.removeEventListener("abort", ring);
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
    });
    this.#listeners.set(id, listeners.add(listener));
    signal.addEventListener("abort", ring);
    if (signal.aborted) ring();
    return listener;
  }
}

/** How many characters of events wait for a listener that is busy. If there are more, it has to read them. */
const mostWaiting = 500_000;

class Listener implements Disposable {
  readonly #onDispose: () => void;
  #events: StoredEvent[] = [];
  #size = 0;
  #shallLook = false;
  #waiting: PromiseWithResolvers<void> | undefined;

  constructor(onDispose: () => void) {
    this.#onDispose = onDispose;
  }

  /** Resolves when there is something to take, and when it is disposed of. */
  get news(): Promise<void> {
    if (this.#shallLook || this.#events.length > 0) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** The events that follow that with the number `after`; undefined if the store has to be asked for them. */
  take(after: number): readonly StoredEvent[] | undefined {
    const events = this.#events.filter(({ sequence }) => sequence > after);
    // Another process may have written some of them.
    const isWhole = events.every(({ sequence }, index) => sequence === after + 1 + index);
    const shallLook = this.#shallLook || !isWhole;
    this.#forget();
    this.#shallLook = false;
    return shallLook ? undefined : events;
  }

  ring(): void {
    this.#forget();
    this.#shallLook = true;
    this.#wake();
  }

  tell(events: readonly StoredEvent[]): void {
    if (this.#shallLook) return;
    for (const event of events) {
      this.#events.push(event);
      this.#size += event.data.length;
    }
    if (this.#size > mostWaiting) this.ring();
    else this.#wake();
  }

  [Symbol.dispose](): void {
    this.#onDispose();
    this.ring();
  }

  #forget(): void {
    this.#events = [];
    this.#size = 0;
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}
