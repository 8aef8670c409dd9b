// A turn that an agent took from its queue: it runs, waits for its next attempt, or was saved in that state.

import type { Turn } from "../turn/turn.ts";
import { TurnEffects } from "./turn-effects.ts";

export class TurnInFlight {
  readonly turn: Turn;
  /** False only for a turn of a restored agent that has not run since. */
  isStarted: boolean;
  /** Whether it completed before it was saved, and only its result is left. */
  readonly isRestoredResult: boolean;
  /** Whether another attempt may follow if this one fails. */
  mayRetry = false;
  /** Whether the value that it yields is its result, and so its last. */
  isLastValue = false;
  #effects: TurnEffects | undefined;

  constructor(turn: Turn, { isStarted }: { isStarted: boolean }) {
    this.turn = turn;
    this.isStarted = isStarted;
    // A queued turn may have completed before, and runs again.
    this.isRestoredResult = !isStarted && this.isCompleted;
  }

  /** Whether the turn completed, and only its result is left to be passed on. */
  get isCompleted(): boolean {
    return this.turn.stopReason === "completed";
  }

  /** Whether there is something left to run or to pass on: a turn that failed or was cancelled is over. */
  get isPending(): boolean {
    const { stopReason } = this.turn;
    return stopReason === null || this.isCompleted || (stopReason === "error" && this.mayRetry);
  }

  /**
   * Whether another turn must not start before this one ended, where several run at once: itself, a turn that it
   * queued, one that would wait for its lock; and a completion check is alone.
   */
  precedes(next: Turn): boolean {
    const { tool } = this.turn;
    return (
      next === this.turn ||
      tool.type === "completion_check" ||
      next.tool.type === "completion_check" ||
      (next.tool.lock !== null && next.tool.lock === tool.lock) ||
      (this.#effects?.hasQueued(next) ?? false)
    );
  }

  /** What it did to the agent so far, if anything. */
  get effects(): TurnEffects | undefined {
    return this.#effects;
  }

  /** Its effects, to record one. Most turns have none. */
  recordableEffects(): TurnEffects {
    this.#effects ??= new TurnEffects();
    return this.#effects;
  }
}

/** The turns that had effects, in the order in which these can be undone. */
export function newestEffectsFirst(inFlight: readonly TurnInFlight[]) {
  return inFlight
    .flatMap(({ effects, isCompleted }) => (effects ? [{ effects, isCompleted }] : []))
    .toSorted((a, b) => b.effects.since - a.effects.since);
}
