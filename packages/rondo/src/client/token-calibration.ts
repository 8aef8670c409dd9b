// Learns from the usage that a server reports how far estimates are off for its model.

import { InvalidTypeError } from "../error/argument-errors.ts";

/** The bounds of the ratio: beyond them it is not the tokenizer that differs, but the request. */
const [lowest, highest] = [0.25, 4];
/** So many tokens speak for a ratio of 1 from the start: a first, short answer does not count for much. */
const priorTokens = 100;
/** How much of what was learned remains when something new is learned. */
const memory = 0.8;

/** Scales estimates by what it has learned. Made by `tokenCalibration()`; one for each model. */
export class TokenCalibration {
  #estimated = 0;
  #actual = 0;

  /** By how much estimates are to be multiplied: 1 at first, never below 0.25 or above 4. */
  get ratio(): number {
    const ratio = (this.#actual + priorTokens) / (this.#estimated + priorTokens);
    return Math.min(Math.max(ratio, lowest), highest);
  }

  /**
   * Learns from one request. Long ones count for more than short ones, new ones for more than old ones.
   *
   * @param estimated What `estimateTokens()` says of its messages, *without* this calibration.
   * @param actual The input tokens that the server has counted. 0 is taken as unknown, and changes nothing.
   */
  learn(estimated: number, actual: number): void {
    checkTokens("estimated", estimated);
    checkTokens("actual", actual);
    if (estimated === 0 || actual === 0) return;
    this.#estimated = this.#estimated * memory + estimated;
    this.#actual = this.#actual * memory + actual;
  }
}

/**
 * Makes a calibration, which knows nothing yet.
 *
 * ```ts
 * const calibration = tokenCalibration();
 * calibration.learn(estimateTokens(messages), usage.inputTokens);
 * estimateTokens(messages, { calibration });
 * ```
 */
export function tokenCalibration(): TokenCalibration {
  return new TokenCalibration();
}

function checkTokens(field: string, value: unknown): void {
  if (typeof value === "number" && value >= 0 && Number.isFinite(value)) return;
  throw new InvalidTypeError({ field, expected: "a number of tokens from 0", received: value });
}
