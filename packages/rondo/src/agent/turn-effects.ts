// Lets a snapshot of an agent leave out what the current turn did so far: the restored agent runs that turn again
// or, if it ended, passes its result on again.

import { ContextItem } from "../context/context-item.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { Turn } from "../turn/turn.ts";

/** What an agent has: its queued turns, and the items of its context. */
export interface AgentContents {
  readonly turns: readonly Turn[];
  readonly queue: readonly ContextItem[];
  readonly pool: readonly ContextItem[];
}

let snapshots = 0;

export class TurnEffects {
  /** The order among turns that run at once: each knows the context with the effects of those before it. */
  #since = 0;
  /** Whether the effects are those of a turn's result, and not of a turn in progress. */
  #isEnded = false;
  /** What the turn added, in order. The same thing may be there twice, and others may have added it too. */
  #added: (Turn | ContextItem)[] = [];
  /** All turns that the turn queued. */
  readonly #turns = new Set<Turn>();
  /** The context before that: what the additions may have evicted or replaced. */
  #queue: readonly ContextItem[] = [];
  #pool: ContextItem[] = [];
  /** The ids of items that the turn added to a pool without a limit. */
  #poolIds = new Set<string>();

  /** Records a value of the turn that is about to be queued or added to the context. */
  record(value: Turn | ContextItem, isEnded: boolean, queue: ContextQueue, pool: ContextPool): void {
    if (this.#added.length === 0 || this.#isEnded !== isEnded) {
      this.#isEnded = isEnded;
      snapshots += 1;
      this.#since = snapshots;
      this.#added = [];
      this.#queue = queue.items;
      // A pool without a limit evicts nothing, and copying it for each turn would cost more with each item.
      this.#pool = pool.limit === null ? [] : pool.items;
      this.#poolIds = new Set();
    }
    this.#added.push(value);
    if (!(value instanceof ContextItem)) this.#turns.add(value);
    if (!(value instanceof ContextItem) || value.id === null || pool.limit !== null) return;
    // Keeps the item from before the turn, not one that the turn replaced it with.
    if (!this.#poolIds.has(value.id) && pool.has(value.id)) this.#pool.push(pool.get(value.id));
    this.#poolIds.add(value.id);
  }

  hasQueued(turn: Turn): boolean {
    return this.#turns.has(turn);
  }

  get since(): number {
    return this.#since;
  }

  /** The contents without the effects. */
  removeFrom(now: AgentContents, isEnded: boolean, queue: ContextQueue, pool: ContextPool): AgentContents {
    if (this.#added.length === 0 || this.#isEnded !== isEnded) return now;
    const queued = [...this.#queue, ...without(now.queue, [...this.#queue, ...this.#added])];
    const added = new Set<unknown>(this.#added);
    const others = now.pool.filter((item) => !added.has(item));
    const pooled = new Map([...this.#pool, ...others].map((item) => [item.id, item]));
    return {
      turns: without(now.turns.toReversed(), this.#added).toReversed(),
      queue: queued.slice(-queue.limit),
      pool: [...pooled.values()].slice(-(pool.limit ?? pooled.size)),
    };
  }
}

/** A list without some of its items: each removes its first occurrence only. */
function without<T>(list: readonly T[], items: readonly unknown[]): T[] {
  const counts = new Map<unknown, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return list.filter((item) => {
    const count = counts.get(item) ?? 0;
    counts.set(item, count - 1);
    return count <= 0;
  });
}
