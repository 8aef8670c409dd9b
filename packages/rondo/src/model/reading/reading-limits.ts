// Limits of the text reader, beyond which markup is read as text. They count characters or calls of the text itself,
// so that they do not depend on how the text is split.

import { maxCalls } from "./dialects/dialect.ts";

export interface ReadingLimits {
  /** How long a call may be, from its opener on. Default: 4,194,304 characters. */
  readonly callLength: number;
  /** How many calls one answer may have in its text. Default: 1,000. */
  readonly calls: number;
  /** How long the white space around calls may be before it counts as text. Default: 65,536 characters. */
  readonly spaceLength: number;
  /** How many characters of any answer may be read again. Default: 65,536. */
  readonly rereadBase: number;
  /** How many more for each character of the answer. Default: 4. */
  readonly rereadFactor: number;
}

export const defaultLimits: ReadingLimits = {
  callLength: 4_194_304,
  calls: maxCalls,
  spaceLength: 65_536,
  rereadBase: 65_536,
  rereadFactor: 4,
};

/**
 * Markup that turns out not to be a call is read again as text, because a call may begin inside it. Hostile text can
 * cause this at each of its characters; the budget keeps the total work linear in the length of the text.
 */
export class RereadBudget {
  readonly #limits: ReadingLimits;
  #spent = 0;
  #farthest = 0;

  constructor(limits: ReadingLimits) {
    this.#limits = limits;
  }

  /** Whether the `length` characters up to `offset` may be read again. */
  spend(length: number, offset: number): boolean {
    const { rereadBase, rereadFactor } = this.#limits;
    this.#farthest = Math.max(this.#farthest, offset);
    if (this.#spent + length > rereadBase + rereadFactor * this.#farthest) return false;
    this.#spent += length;
    return true;
  }
}
