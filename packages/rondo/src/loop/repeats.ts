// Notices a model that makes the same call over and over and learns nothing from it.

/** A call as the model made it. */
interface MadeCall {
  readonly name: string;
  readonly arguments: string;
}

interface Streak {
  /** What the call was answered with the last time; the conversation has this text anyway. */
  readonly result: string;
  /** How often in a row it was answered so. */
  readonly count: number;
}

/**
 * Counts how often in a row a call had the same arguments and the same result. A call that gives something new
 * each time, such as a poll, starts again with each result.
 */
export class Repeats {
  readonly #streaks = new Map<string, Streak>();
  readonly #maxRepeats: number;

  constructor(maxRepeats: number) {
    this.#maxRepeats = maxRepeats;
  }

  /**
   * Looks at the calls of one answer. Gives for each why it is not to be run, if so. Calls that were not made
   * again are forgotten.
   */
  check(calls: readonly MadeCall[]): (string | undefined)[] {
    const times = new Map<string, number>();
    const problems = calls.map((call) => {
      const key = keyOf(call);
      const time = (times.get(key) ?? 0) + 1;
      times.set(key, time);
      const count = this.#streaks.get(key)?.count ?? 0;
      if (count >= this.#maxRepeats) {
        const made = count === 1 ? "just made" : `made ${count} times in a row with the same result`;
        return `This same call was ${made}. Use that result, or do something else.`;
      }
      // What its copies will give is not known yet, but a model that is stuck may write hundreds of them.
      if (time > this.#maxRepeats)
        return `This same call is in one answer more than ${this.#maxRepeats} times, and was not run again. Use the results of the others.`;
      return undefined;
    });
    for (const key of this.#streaks.keys()) if (!times.has(key)) this.#streaks.delete(key);
    return problems;
  }

  /** Notes what a call was answered with, as the model reads it. */
  note(call: MadeCall, result: string): void {
    const key = keyOf(call);
    const last = this.#streaks.get(key);
    this.#streaks.set(key, { result, count: last?.result === result ? last.count + 1 : 1 });
  }
}

function keyOf({ name, arguments: text }: MadeCall): string {
  return `${name}\n${text}`;
}
