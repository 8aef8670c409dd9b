// The responses that a connection keeps itself, so that others can follow them though they are not stored: the
// newest ones, up to so many bytes together.

import type { Entry } from "../../engine/conversation.ts";

export interface MemoryLimits {
  /** How many responses are kept. */
  readonly responses: number;
  /** How much they may be together, as JSON. What two of them share counts once. */
  readonly bytes: number;
  /** How much all connections of an owner may keep together. */
  readonly ownerBytes: number;
}

/** What all connections of an owner keep. */
export interface SharedMemory {
  bytes: number;
}

export class Memory {
  readonly #limits: MemoryLimits;
  readonly #shared: SharedMemory;
  /** Oldest first. */
  readonly #kept = new Map<string, readonly Entry[]>();
  readonly #sizes = new Map<Entry, { readonly bytes: number; uses: number }>();
  #bytes = 0;
  #isClosed = false;

  constructor(limits: MemoryLimits, shared: SharedMemory = { bytes: 0 }) {
    this.#limits = limits;
    this.#shared = shared;
  }

  /** How much is kept, in bytes of JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** The conversation up to a response, oldest first. */
  recall(id: string): readonly Entry[] | undefined {
    return this.#kept.get(id);
  }

  /** Keeps a conversation that ends in a response, and forgets the oldest ones that are too many with it. */
  keep(id: string, entries: readonly Entry[]): void {
    if (this.#isClosed) return;
    this.forget(id);
    this.#kept.set(id, entries);
    for (const entry of entries) this.#use(entry);
    for (const oldest of this.#kept.keys()) {
      if (!this.#isFull) return;
      this.forget(oldest);
    }
  }

  get #isFull(): boolean {
    const { responses, bytes, ownerBytes } = this.#limits;
    return this.#kept.size > responses || this.#bytes > bytes || this.#shared.bytes > ownerBytes;
  }

  forget(id: string): void {
    const entries = this.#kept.get(id);
    if (!entries) return;
    this.#kept.delete(id);
    for (const entry of entries) this.#release(entry);
  }

  /** Forgets all, and keeps nothing from now on: a run may end after its connection. */
  close(): void {
    this.#isClosed = true;
    this.#kept.clear();
    this.#sizes.clear();
    this.#add(-this.#bytes);
  }

  #use(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (known) {
      known.uses += 1;
      return;
    }
    const bytes = Buffer.byteLength(JSON.stringify(entry.item));
    this.#sizes.set(entry, { bytes, uses: 1 });
    this.#add(bytes);
  }

  #release(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (!known) return;
    known.uses -= 1;
    if (known.uses > 0) return;
    this.#sizes.delete(entry);
    this.#add(-known.bytes);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#shared.bytes += bytes;
  }
}
