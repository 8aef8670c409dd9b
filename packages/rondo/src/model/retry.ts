// Retries where that is safe: before the first byte of an answer, and after transient failures.

import { backoffMs, backoffParts } from "../async/backoff.ts";
import { sleep } from "../async/until-aborted.ts";
import { checkGrace, checkLimit, checkOptions } from "../error/check.ts";
import { ModelConnectionError } from "../error/model-errors.ts";
import { ModelRateLimitError, ModelServerError } from "../error/model-http-errors.ts";

export interface RetryOptions {
  /** How many attempts in all. Default: 3. */
  attempts?: number;
  /** The delay before the second attempt. Default: 500. */
  delayMs?: number;
  /** The factor from each delay to the next. Default: 2. */
  factor?: number;
  /** The longest delay between two attempts. Default: 10,000. */
  maxDelayMs?: number;
  /** The longest `Retry-After` that is respected; a longer one fails the request. Default: 60,000. */
  maxRetryAfterMs?: number;
  /** How long to wait for a server that is loading its model, however many attempts it takes. Default: 120,000. */
  loadingMs?: number;
}

export type RetryPolicy = Readonly<Required<RetryOptions>>;

type Check = (field: string, value: unknown) => unknown;

/** The defaults, and what each option must be. */
const options: { readonly [K in keyof RetryPolicy]: readonly [fallback: number, check: Check] } = {
  attempts: [3, checkLimit],
  ...backoffParts,
  maxRetryAfterMs: [60_000, checkGrace],
  loadingMs: [120_000, checkGrace],
};

/** Checks the option `retry`; `false` stands for a single attempt. */
export function retryPolicy(field: string, given: RetryOptions | false = {}): RetryPolicy {
  if (given === false) return retryPolicy(field, { attempts: 1, loadingMs: 0 });
  checkOptions(field, given, Object.keys(options));
  const policy = Object.entries(options).map(([key, [fallback, check]]) => {
    const value = given[key as keyof RetryOptions] ?? fallback;
    check(`${field}.${key}`, value);
    return [key, value];
  });
  return Object.fromEntries(policy) as RetryPolicy;
}

export interface RetryNotice {
  readonly error: Error;
  /** The number of the next attempt, from 2. */
  readonly attempt: number;
  readonly waitMs: number;
}

export interface RetrySetup {
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal;
  /** Whether a retry is still safe: no byte of an answer has come. */
  readonly isSafe: () => boolean;
  readonly onRetry: (notice: RetryNotice) => void;
}

/** Runs `attempt` until it succeeds, fails for good, or no attempt is left. */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  { policy, signal, isSafe, onRetry }: RetrySetup,
): Promise<T> {
  const startedAt = performance.now();
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isLoading = error instanceof ModelServerError && error.isLoading;
      const hasAttemptLeft =
        count < policy.attempts || (isLoading && performance.now() - startedAt < policy.loadingMs);
      if (signal.aborted || !isSafe() || !hasAttemptLeft || !isTransient(error)) throw error;
      const askedMs = askedWaitMs(error);
      // An earlier attempt than the server asks for would fail.
      if (askedMs !== undefined && askedMs > policy.maxRetryAfterMs) throw error;
      const waitMs = Math.round(askedMs ?? backoffMs(count, policy));
      onRetry({ error, attempt: count + 1, waitMs });
      await sleep(waitMs, signal);
    }
  }
}

/** Whether a failure may be transient. */
function isTransient(error: unknown): error is ModelConnectionError | ModelRateLimitError | ModelServerError {
  if (error instanceof ModelServerError) return [500, 502, 503, 504].includes(error.status);
  if (error instanceof ModelConnectionError) return error.reason !== "ENOTFOUND";
  return error instanceof ModelRateLimitError;
}

function askedWaitMs(error: unknown): number | undefined {
  const hasAsked = error instanceof ModelRateLimitError || error instanceof ModelServerError;
  return hasAsked ? error.retryAfterMs : undefined;
}

/** Reads a `Retry-After` header: seconds, or a date. */
export function parseRetryAfter(header: string | undefined, nowMs = Date.now()): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const waitMs = Number.isNaN(seconds) ? Date.parse(header) - nowMs : seconds * 1_000;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, Math.round(waitMs));
}
