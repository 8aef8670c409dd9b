// Notices a model that makes the same call over and over and learns nothing from it.

import { digest } from "./digest.ts";

/** A call as the model made it. */
interface MadeCall {
  readonly name: string;
  readonly arguments: string;
}

/** By the digest of a call: the digest of its last result, and how often in a row it had that result. */
export type StoredRepeats = Readonly<Record<string, readonly [result: string, count: number]>>;

interface Streak {
  /** The last result; the conversation holds this text anyway. A restored streak has its digest only. */
  readonly result?: string;
  readonly resultDigest?: string;
  /** How often in a row the call had this result. */
  readonly count: number;
}

/**
 * Counts how often in a row a call had the same arguments and the same result. A call with a new result each
 * time, such as a poll, starts again with each.
 */
export class Repeats {
  readonly #streaks = new Map<string, Streak>();
  readonly #maxRepeats: number;
  /** Streaks of an earlier run, until their calls are checked. */
  #stored: StoredRepeats | undefined;

  constructor(maxRepeats: number, stored?: StoredRepeats) {
    this.#maxRepeats = maxRepeats;
    this.#stored = stored;
  }

  /** Checks the calls of one answer. Gives for each why it is not run, if so; streaks of other calls end. */
  check(calls: readonly MadeCall[]): (string | undefined)[] {
    const times = new Map<string, number>();
    const problems = calls.map((call) => {
      const key = keyOf(call);
      const time = (times.get(key) ?? 0) + 1;
      times.set(key, time);
      const count = this.#streak(key)?.count ?? 0;
      if (count >= this.#maxRepeats) {
        const made = count === 1 ? "just made" : `made ${count} times in a row with the same result`;
        return `This same call was ${made}. Use that result, or do something else.`;
      }
      // The results of its copies are not known yet, but a stuck model may write hundreds of them.
      if (time > this.#maxRepeats)
        return `This same call is in one answer more than ${this.#maxRepeats} times, and was not run again. Use the results of the others.`;
      return undefined;
    });
    for (const key of this.#streaks.keys()) if (!times.has(key)) this.#streaks.delete(key);
    this.#stored = undefined;
    return problems;
  }

  /** Notes the result of a call, as the model reads it. */
  note(call: MadeCall, result: string): void {
    const key = keyOf(call);
    const last = this.#streak(key);
    const isSame =
      last?.result === result || (last?.resultDigest !== undefined && last.resultDigest === digest(result));
    this.#streaks.set(key, { result, count: last && isSame ? last.count + 1 : 1 });
  }

  /** The streaks as JSON; undefined if there are none. */
  toStored(): StoredRepeats | undefined {
    if (this.#streaks.size === 0) return undefined;
    return Object.fromEntries(
      Array.from(this.#streaks, ([key, { result = "", resultDigest = digest(result), count }]) => [
        digest(key),
        [resultDigest, count] as const,
      ]),
    );
  }

  #streak(key: string): Streak | undefined {
    const known = this.#streaks.get(key);
    if (known || !this.#stored) return known;
    const [resultDigest, count] = this.#stored[digest(key)] ?? [];
    if (resultDigest === undefined || count === undefined) return undefined;
    const streak = { resultDigest, count };
    this.#streaks.set(key, streak);
    return streak;
  }
}

function keyOf({ name, arguments: text }: MadeCall): string {
  return `${name}\n${text}`;
}
