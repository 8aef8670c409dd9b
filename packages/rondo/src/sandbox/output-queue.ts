// Output between a process and its reader: it waits in a queue, and the process waits when the queue is full.

import { withResolvers } from "../async/with-resolvers.ts";
import { SandboxClosedError } from "./sandbox-errors.ts";

const fullAtBytes = 256 * 1024;

export class OutputQueue<Item> implements AsyncIterable<Item> {
  readonly #items: { item: Item; bytes: number }[] = [];
  readonly #onChange: (isFull: boolean) => void;
  readonly #onLeave: () => void;
  #bytes = 0;
  #isEnded = false;
  #isTaken = false;
  #isDropping = false;
  #wake: (() => void) | undefined;

  /** `onChange` says when it becomes full, and when there is room again; `onLeave`, that the reader has left. */
  constructor(onChange: (isFull: boolean) => void, onLeave: () => void) {
    this.#onChange = onChange;
    this.#onLeave = onLeave;
  }

  push(item: Item, bytes: number): void {
    if (this.#isEnded || this.#isDropping) return;
    this.#items.push({ item, bytes });
    const wasFull = this.#bytes >= fullAtBytes;
    this.#bytes += bytes;
    if (!wasFull && this.#bytes >= fullAtBytes) this.#onChange(true);
    this.#wake?.();
  }

  /** No more will come. What waits can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Drops what waits and what comes, if nobody iterates. */
  drop(): void {
    if (this.#isTaken) return;
    this.#isDropping = true;
    this.#clear();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, void> {
    if (this.#isTaken) throw new SandboxClosedError("The output of this process was read before, and");
    this.#isTaken = true;
    try {
      for (;;) {
        const next = this.#items.shift();
        if (next !== undefined) {
          this.#take(next.bytes);
          yield next.item;
        } else if (this.#isEnded) return;
        else await this.#change();
      }
    } finally {
      this.#isDropping = true;
      this.#clear();
      if (!this.#isEnded) this.#onLeave();
    }
  }

  async #change(): Promise<void> {
    const { promise, resolve } = withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
  }

  #take(bytes: number): void {
    const wasFull = this.#bytes >= fullAtBytes;
    this.#bytes -= bytes;
    if (wasFull && this.#bytes < fullAtBytes) this.#onChange(false);
  }

  #clear(): void {
    this.#items.length = 0;
    this.#take(this.#bytes);
  }
}
