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
  /** What the turn has added, in order. The same thing may be there twice, and may be what others have added too. */
  #routed: (Turn | ContextItem)[] = [];
  /** The context before that: what the additions may have pushed out or replaced. */
  #queue: readonly ContextItem[] = [];
  #pool: ContextItem[] = [];
  /** The ids of items that the turn has added to a pool without a limit. */
  #poolIds = new Set<string>();

  /** Notes that a value of the turn is about to be routed. */
  note(value: Turn | ContextItem, isEnded: boolean, queue: ContextQueue, pool: ContextPool): void {
    if (this.#routed.length === 0 || this.#isEnded !== isEnded) {
      this.#isEnded = isEnded;
      this.#routed = [];
      this.#queue = queue.items;
      // A pool without a limit evicts nothing, and copying it for each turn would cost more with each item.
      this.#pool = pool.limit === null ? [] : pool.items;
      this.#poolIds = new Set();
    }
    this.#routed.push(value);
    if (!(value instanceof ContextItem) || value.id === null || pool.limit !== null) return;
    // What was there before the turn is put back, not what the turn itself has put in its place since.
    if (!this.#poolIds.has(value.id) && pool.has(value.id)) this.#pool.push(pool.get(value.id));
    this.#poolIds.add(value.id);
  }

  /** The turn is over: what it did stays. */
  clear(): void {
    this.#routed = [];
  }

  /** What the agent has without the doings of its turn. */
  apply(now: Holdings, isEnded: boolean, queue: ContextQueue, pool: ContextPool): Holdings {
    if (this.#routed.length === 0 || this.#isEnded !== isEnded) return now;
    const queued = [...this.#queue, ...without(now.queue, [...this.#queue, ...this.#routed])];
    const routed = new Set<unknown>(this.#routed);
    const others = now.pool.filter((item) => !routed.has(item));
    const pooled = new Map([...this.#pool, ...others].map((item) => [item.id, item]));
    return {
      turns: without(now.turns.toReversed(), this.#routed).toReversed(),
      queue: queued.slice(-queue.limit),
      pool: [...pooled.values()].slice(-(pool.limit ?? pooled.size)),
    };
  }
}

/** A list without some of its items: each takes away one occurrence, the first. */
function without<T>(list: readonly T[], items: readonly unknown[]): T[] {
  const counts = new Map<unknown, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return list.filter((item) => {
    const count = counts.get(item) ?? 0;
    counts.set(item, count - 1);
    return count <= 0;
  });
}
