// Delays between attempts: they grow, with jitter.

import { checkDuration, checkFactor } from "../error/check.ts";

export interface Backoff {
  /** The delay before the second attempt. */
  readonly delayMs: number;
  /** The factor from each delay to the next. */
  readonly factor: number;
  /** The longest delay between two attempts. */
  readonly maxDelayMs: number;
}

/** The default of each part, and what it must be. */
export const backoffParts = {
  delayMs: [500, checkDuration],
  factor: [2, checkFactor],
  maxDelayMs: [10_000, checkDuration],
} as const satisfies Record<keyof Backoff, readonly unknown[]>;

/**
 * The delay after the `count`-th attempt: exponential, with a random jitter of up to a half, so that clients that
 * failed together do not retry together.
 */
export function backoffMs(
  count: number,
  { delayMs, factor, maxDelayMs }: Backoff,
  random: () => number = Math.random,
): number {
  return Math.min(delayMs * factor ** (count - 1), maxDelayMs) * (1 - random() / 2);
}
