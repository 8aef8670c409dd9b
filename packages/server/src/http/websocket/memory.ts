// The responses that a connection keeps itself, so that others can follow them though they are not stored: the
// newest ones, up to so many bytes together.

import type { Entry } from "../../engine/conversation.ts";

export interface MemoryLimits {
  /** How many responses are kept. */
  readonly responses: number;
  /** How much they may be together, as JSON. What two of them share counts once. */
  readonly bytes: number;
}

export class Memory {
  readonly #limits: MemoryLimits;
  /** Oldest first. */
  readonly #kept = new Map<string, readonly Entry[]>();
  readonly #sizes = new Map<Entry, { readonly bytes: number; uses: number }>();
  #bytes = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
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
    this.forget(id);
    this.#kept.set(id, entries);
    for (const entry of entries) this.#use(entry);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#limits.responses && this.#bytes <= this.#limits.bytes) return;
      this.forget(oldest);
    }
  }

  forget(id: string): void {
    const entries = this.#kept.get(id);
    if (!entries) return;
    this.#kept.delete(id);
    for (const entry of entries) this.#release(entry);
  }

  clear(): void {
    this.#kept.clear();
    this.#sizes.clear();
    this.#bytes = 0;
  }

  #use(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (known) {
      known.uses += 1;
      return;
    }
    const bytes = Buffer.byteLength(JSON.stringify(entry.item));
    this.#sizes.set(entry, { bytes, uses: 1 });
    this.#bytes += bytes;
  }

  #release(entry: Entry): void {
    const known = this.#sizes.get(entry);
    if (!known) return;
    known.uses -= 1;
    if (known.uses > 0) return;
    this.#sizes.delete(entry);
    this.#bytes -= known.bytes;
  }
}
