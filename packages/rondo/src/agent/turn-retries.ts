// Further attempts for a turn whose tool threw.

import { type Backoff, backoffParts } from "../async/backoff.ts";
import { checkBoolean, checkLimit, checkOptions, requireType } from "../error/check.ts";
import { isThrownByTool, type Turn } from "../turn/turn.ts";
import { thinkingTool } from "./thinking.ts";

export interface TurnRetries {
  /** How many attempts in all. Default: 3. */
  attempts?: number;
  /** The delay before the second attempt. Each delay is shortened at random, by up to a half. Default: 500. */
  delayMs?: number;
  /** The factor from each delay to the next. Default: 2. */
  factor?: number;
  /** The longest delay between two attempts. Default: 10,000. */
  maxDelayMs?: number;
  /** Whether to try again after an error that the tool threw. Default: always. */
  shouldRetry?: (error: unknown, turn: Turn) => boolean;
}

export type TurnRetryPolicy = Backoff & Readonly<Required<TurnRetries>>;

/** Checks the option `retries`; without it there is no policy. */
export function checkRetries(given: TurnRetries | undefined): TurnRetryPolicy | null {
  if (given === undefined) return null;
  checkOptions("retries", given, ["attempts", ...Object.keys(backoffParts), "shouldRetry"]);
  const { attempts = 3, shouldRetry = () => true } = given;
  requireType(typeof shouldRetry === "function", "retries.shouldRetry", "a function", shouldRetry);
  const part = (key: keyof Backoff): number => {
    const [fallback, check] = backoffParts[key];
    return check(`retries.${key}`, given[key] ?? fallback);
  };
  return {
    attempts: checkLimit("retries.attempts", attempts),
    delayMs: part("delayMs"),
    factor: part("factor"),
    maxDelayMs: part("maxDelayMs"),
    shouldRetry,
  };
}

/** The attempts that a turn has. A model has retries of its own, so a prompt has one. */
export function attemptsOf(turn: Turn, policy: TurnRetryPolicy | null): number {
  return policy === null || turn.tool === thinkingTool() ? 1 : policy.attempts;
}

/** Whether the turn's failure is one of its tool, and may be retried. */
export function isRetried(error: unknown, turn: Turn, { shouldRetry }: TurnRetryPolicy): boolean {
  return isThrownByTool(turn, error) && checkBoolean("the result of shouldRetry()", shouldRetry(error, turn));
}
