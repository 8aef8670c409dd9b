// The newest responses of a connection that are not stored: kept in memory, within limits, so that the next request
// can continue them.

import type { Entry } from "../../engine/conversation.ts";

export interface RecentResponsesLimits {
  /** How many responses a connection keeps. */
  readonly responses: number;
  /** How many bytes of JSON they may have together. Entries that they share count once. */
  readonly bytes: number;
  /** How many bytes all connections of an owner may keep. */
  readonly ownerBytes: number;
}

/** The bytes that all connections of an owner keep. */
export interface OwnerBytes {
  bytes: number;
}

export class RecentResponses {
  readonly #limits: RecentResponsesLimits;
  readonly #shared: OwnerBytes;
  /** Oldest first. */
  readonly #kept = new Map<string, readonly Entry[]>();
  readonly #sizes = new Map<Entry, { readonly bytes: number; uses: number }>();
  #bytes = 0;
  #isClosed = false;

  constructor(limits: RecentResponsesLimits, shared: OwnerBytes = { bytes: 0 }) {
    this.#limits = limits;
    this.#shared = shared;
  }

  /** How many bytes of JSON are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** The conversation up to and including a response, oldest first. */
  get(id: string): readonly Entry[] | undefined {
    return this.#kept.get(id);
  }

  /** Keeps a conversation that ends with a response, and evicts the oldest ones beyond the limits. */
  add(id: string, entries: readonly Entry[]): void {
    if (this.#isClosed) return;
    this.delete(id);
    this.#kept.set(id, entries);
    for (const entry of entries) this.#use(entry);
    for (const oldest of this.#kept.keys()) {
      if (!this.#isFull) return;
      this.delete(oldest);
    }
  }

  get #isFull(): boolean {
    const { responses, bytes, ownerBytes } = this.#limits;
    return this.#kept.size > responses || this.#bytes > bytes || this.#shared.bytes > ownerBytes;
  }

  delete(id: string): void {
    const entries = this.#kept.get(id);
    if (!entries) return;
    this.#kept.delete(id);
    for (const entry of entries) this.#release(entry);
  }

  /** Drops all, and keeps nothing from now on: a run may outlive its connection. */
  close(): void {
    this.#isClosed = true;
    this.#kept.clear();
    this.#sizes.clear();
    this.#count(-this.#bytes);
  }

  #use(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (known) {
      known.uses += 1;
      return;
    }
    const bytes = Buffer.byteLength(JSON.stringify(entry.item));
    this.#sizes.set(entry, { bytes, uses: 1 });
    this.#count(bytes);
  }

  #release(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (!known) return;
    known.uses -= 1;
    if (known.uses > 0) return;
    this.#sizes.delete(entry);
    this.#count(-known.bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#shared.bytes += bytes;
  }
}
