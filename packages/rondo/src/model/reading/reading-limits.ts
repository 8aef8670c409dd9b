// How much the text reader does before it takes markup for text. All limits count characters or calls of the text
// itself, so that they hold at the same place however the text is cut into pieces.

import { maxCalls } from "./dialects/dialect.ts";

export interface ReadingLimits {
  /** How long a call may be, from its opener on. Default: 4,194,304 characters. */
  readonly callLength: number;
  /** How many calls one answer may have in its text. Default: 1,000. */
  readonly calls: number;
  /** How long the white space around calls may be before it is text. Default: 65,536 characters. */
  readonly spaceLength: number;
  /** How many characters may be read a second time, whatever the length of the answer. Default: 65,536. */
  readonly rereadBase: number;
  /** How many more of them for each character of the answer. Default: 4. */
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
 * What looked like a call and is none is read again as text, for a call may begin within it. Text can be written so
 * that this happens at each of its characters; the budget keeps the whole in proportion to the length of the text.
 */
export class RereadBudget {
  readonly #limits: ReadingLimits;
  #spent = 0;
  #farthest = 0;

  constructor(limits: ReadingLimits) {
    this.#limits = limits;
  }

  /** Whether `length` characters may be read again, the last of them being number `offset` of the text. */
  spend(length: number, offset: number): boolean {
    const { rereadBase, rereadFactor } = this.#limits;
    this.#farthest = Math.max(this.#farthest, offset);
    if (this.#spent + length > rereadBase + rereadFactor * this.#farthest) return false;
    this.#spent += length;
    return true;
  }
}
