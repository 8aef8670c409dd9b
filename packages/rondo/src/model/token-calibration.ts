// Learns how far estimates are off for a model, from the usage that its server reports.

import { InvalidTypeError } from "../error/argument-errors.ts";

/** The bounds of the ratio: beyond them, the request differs and not the tokenizer. */
const [lowest, highest] = [0.25, 4];
/** The weight of the initial ratio of 1, in tokens, so that one short request does not change much. */
const priorTokens = 100;
/** The weight of earlier requests when a new one is learned. */
const memory = 0.8;

/** Scales estimates by a learned ratio. Made by `tokenCalibration()`, one per model. */
export class TokenCalibration {
  #estimated = 0;
  #actual = 0;

  /** The factor for estimates: 1 at first, never below 0.25 or above 4. */
  get ratio(): number {
    const ratio = (this.#actual + priorTokens) / (this.#estimated + priorTokens);
    return Math.min(Math.max(ratio, lowest), highest);
  }

  /**
   * Learns from one request. Long requests count more than short ones, new ones more than old ones.
   *
   * @param estimated What `estimateTokens()` says of its messages, *without* this calibration.
   * @param actual The input tokens that the server counted. 0 means unknown and is ignored.
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
 * Makes a calibration with the ratio 1.
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
