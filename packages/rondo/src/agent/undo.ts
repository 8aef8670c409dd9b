// Lets a snapshot leave out what the current turn has done so far: the restored agent runs that turn again, or,
// if it has ended, passes its result on again.

import { ContextItem } from "../context/context-item.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { Turn } from "../turn/turn.ts";

/** What an agent has queued and knows. */
export interface Holdings {
  readonly turns: readonly Turn[];
  readonly queue: readonly ContextItem[];
  readonly pool: readonly ContextItem[];
}

export class Undo {
  /** Whether it is about the result of a turn that has ended, and not about one that is under way. */
  #isEnded = false;
  /** What the turn has added. */
  #routed = new Set<Turn | ContextItem>();
  /** The context before that: what the additions may have pushed out or replaced. */
  #queue: readonly ContextItem[] = [];
  #pool: ContextItem[] = [];

  /** Notes that a value of the turn is about to be routed. */
  note(value: Turn | ContextItem, isEnded: boolean, queue: ContextQueue, pool: ContextPool): void {
    if (this.#routed.size === 0 || this.#isEnded !== isEnded) {
      this.#isEnded = isEnded;
      this.#routed = new Set();
      this.#queue = queue.items;
      // A pool without a limit evicts nothing, and copying it for each turn would cost more with each item.
      this.#pool = pool.limit === null ? [] : pool.items;
    }
    this.#routed.add(value);
    if (!(value instanceof ContextItem) || value.id === null || pool.limit !== null || !pool.has(value.id))
      return;
    const replaced = pool.get(value.id);
    if (!this.#routed.has(replaced)) this.#pool.push(replaced);
  }

  /** The turn is over: what it did stays. */
  clear(): void {
    this.#routed = new Set();
  }

  /** What the agent has without the doings of its turn. */
  apply(now: Holdings, isEnded: boolean, queue: ContextQueue, pool: ContextPool): Holdings {
    if (this.#routed.size === 0 || this.#isEnded !== isEnded) return now;
    const isKept = (it: Turn | ContextItem) => !this.#routed.has(it);
    const queued = new Set([...this.#queue, ...now.queue.filter(isKept)]);
    const pooled = new Map([...this.#pool, ...now.pool.filter(isKept)].map((item) => [item.id, item]));
    return {
      turns: now.turns.filter(isKept),
      queue: [...queued].slice(-queue.limit),
      pool: [...pooled.values()].slice(-(pool.limit ?? pooled.size)),
    };
  }
}
