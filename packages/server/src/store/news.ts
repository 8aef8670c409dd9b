// Notifies the parts of a server of what was written to a store: in one process, or between several.

import type { StoredEvent } from "./store.ts";

/** Receives the events of a commit. Without any, the store has to be read. */
export type NewsListener = (events?: readonly StoredEvent[]) => void;

/**
 * Topics are the ids of responses and conversations, `jobs` and `cancels`. News are hints: they may come twice or late;
 * if they can get lost, the store has a `pollMs`.
 */
export interface News {
  /** Notifies the listeners of `topic`, in all processes, after the write. Only those of this process need the events. */
  publish(topic: string, events?: readonly StoredEvent[]): void;
  /** Returns the function that ends it. */
  subscribe(topic: string, listener: NewsListener): () => void;
}

/** There may be a job to claim, now or when a lease expires. */
export const jobsTopic = "jobs";

/** A cancellation was requested, of a run that may be another process's. */
export const cancelsTopic = "cancels";

/** News within one process. */
export class LocalNews implements News {
  readonly #listeners = new Map<string, Set<NewsListener>>();

  /** What somebody listens to. */
  get topics(): readonly string[] {
    return [...this.#listeners.keys()];
  }

  /** Notifies all listeners: something may have been missed. */
  publishAll(): void {
    for (const topic of this.topics) this.publish(topic);
  }

  publish(topic: string, events?: readonly StoredEvent[]): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(events);
  }

  subscribe(topic: string, listener: NewsListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }
}
