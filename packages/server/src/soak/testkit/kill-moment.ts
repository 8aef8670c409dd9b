// When the server is killed: at any time, and also where it hurts most.

import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "./random.ts";

export type KillMoment =
  /** While it starts, and so recovers from the last kill. */
  | { readonly type: "starting"; readonly ms: number }
  | { readonly type: "serving"; readonly ms: number }
  /** As soon as something has happened so many times since it serves. */
  | { readonly type: Sign; readonly count: number };

/** What a kill can wait for: a tool that has begun, one that has done its work, an event that a client has. */
export type Sign = "tool.started" | "tool.ended" | "frame";

const kinds = ["serving", "tool.started", "serving", "tool.ended", "frame", "starting"] as const;

/** The moment of the kill number `index`. All kinds come up again and again. */
export function killMoment(index: number, chance: Random): KillMoment {
  const type = kinds[index % kinds.length] ?? "serving";
  if (type === "starting") return { type, ms: chance.integer(0, 600) };
  if (type === "serving") return { type, ms: chance.integer(0, 400) };
  return { type, count: chance.integer(1, type === "frame" ? 300 : 8) };
}

/** Counts signs, and lets one wait for them. */
export class Signs {
  readonly #waiting = new Set<{ readonly sign: Sign; left: number; readonly resolve: () => void }>();

  tell(sign: Sign): void {
    for (const waiter of this.#waiting) if (waiter.sign === sign && --waiter.left === 0) waiter.resolve();
  }

  /** Resolves at the `count`th sign from now on, or after `mostMs`. */
  async next(sign: Sign, count: number, mostMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { sign, left: count, resolve };
    const timeout = new AbortController();
    this.#waiting.add(waiter);
    try {
      await Promise.race([promise, wait(mostMs, undefined, { signal: timeout.signal })]);
    } finally {
      timeout.abort();
      this.#waiting.delete(waiter);
    }
  }
}
