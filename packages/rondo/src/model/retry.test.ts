import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { backoffMs } from "../async/backoff.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { ModelConnectionError, ReportedStreamError } from "../error/model-errors.ts";
import {
  ModelAuthError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "../error/model-http-errors.ts";
import { parseRetryAfter, type RetryNotice, type RetryOptions, retryPolicy, withRetry } from "./retry.ts";

const endpoint = "http://localhost:1/v1";
const failure = (status: number, said = "") => ({ endpoint, status, said });
const refused = new ModelConnectionError(endpoint, { code: "ECONNREFUSED" });

interface Outcome {
  attempts: number;
  notices: RetryNotice[];
  error: unknown;
}

/** Fails with the given errors in turn, the last one for ever, and tells what was made of it. */
async function outcomeOf(
  errors: unknown[],
  options?: RetryOptions | false,
  isSafe = () => true,
): Promise<Outcome> {
  const outcome: Outcome = { attempts: 0, notices: [], error: undefined };
  const attempt = async () => {
    const error = errors[Math.min(outcome.attempts, errors.length - 1)];
    outcome.attempts += 1;
    if (error !== undefined) throw error as Error;
  };
  const { signal } = new AbortController();
  const run = withRetry(attempt, {
    policy: retryPolicy("retry", options),
    signal,
    isSafe,
    onRetry: (notice) => outcome.notices.push(notice),
  }).catch((error: unknown) => {
    outcome.error = error;
  });
  await vi.runAllTimersAsync();
  await run;
  return outcome;
}

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] }));
afterEach(() => vi.useRealTimers());

describe("asks again", () => {
  test.each<[string, Error]>([
    ["refused", refused],
    ["reset", new ModelConnectionError(endpoint, { code: "ECONNRESET" })],
    ["429", new ModelRateLimitError(failure(429), undefined)],
    ...[500, 502, 503, 504].map((status): [string, Error] => [
      `${status}`,
      new ModelServerError(failure(status)),
    ]),
  ])("after: %s", async (_, error) => {
    expect(await outcomeOf([error, undefined])).toMatchObject({ attempts: 2, error: undefined });
  });

  test("no more often than it may, and throws the last error", async () => {
    const last = new ModelServerError(failure(500));
    expect(await outcomeOf([refused, refused, last])).toMatchObject({ attempts: 3, error: last });
    expect(await outcomeOf([refused], { attempts: 5 })).toMatchObject({ attempts: 5 });
    expect(await outcomeOf([refused], { attempts: 1 })).toMatchObject({ attempts: 1, notices: [] });
    expect(await outcomeOf([refused], false)).toMatchObject({ attempts: 1, notices: [] });
  });

  test.each([
    ["an unknown host", new ModelConnectionError(endpoint, { code: "ENOTFOUND" })],
    ["401", new ModelAuthError(failure(401))],
    ["404", new ModelNotFoundError(failure(404), "m", { isPath: false })],
    ["400", new ModelRequestError(failure(400))],
    ["501", new ModelServerError(failure(501))],
    ["an error in the stream", new ReportedStreamError(endpoint, "", "no")],
    ["any other error", new Error("bug")],
  ])("not after: %s", async (_, error) => {
    expect(await outcomeOf([error])).toMatchObject({ attempts: 1, error });
  });

  test("not after the first byte of an answer", async () => {
    expect(await outcomeOf([refused], {}, () => false)).toMatchObject({ attempts: 1, error: refused });
  });

  test("as long as the model is loading, and not for ever", async () => {
    const loading = new ModelServerError(failure(503, "Loading model"));
    expect(await outcomeOf([...Array.from({ length: 9 }, () => loading), undefined])).toMatchObject({
      attempts: 10,
    });
    const { attempts, error, notices } = await outcomeOf([loading], { loadingMs: 5_000, maxDelayMs: 1_000 });
    expect(error).toBe(loading);
    expect(attempts).toBeGreaterThan(4);
    expect(notices.reduce((sum, { waitMs }) => sum + waitMs, 0)).toBeLessThan(6_500);
    expect(await outcomeOf([loading], { loadingMs: 0 })).toMatchObject({ attempts: 3 });
  });
});

describe("the wait", () => {
  test("is the server's Retry-After; one beyond the limit is not retried", async () => {
    const asked = new ModelRateLimitError(failure(429), 7_000);
    const busy = new ModelServerError(failure(503), 3_000);
    expect((await outcomeOf([asked, busy, undefined])).notices.map(({ waitMs }) => waitMs)).toEqual([
      7_000, 3_000,
    ]);
    // Asking earlier would be in vain, and waiting so long is not what the user wants.
    expect(await outcomeOf([asked, undefined], { maxRetryAfterMs: 10 })).toMatchObject({
      error: asked,
      notices: [],
    });
  });

  test("grows to a limit, and is shortened at random by up to a half", () => {
    const policy = retryPolicy("retry", {});
    expect([1, 2, 3, 4, 5, 6, 99].map((count) => backoffMs(count, policy, () => 0))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
    ]);
    expect(backoffMs(2, policy, () => 0.5)).toBe(750);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (count) => {
        const longest = backoffMs(count, policy, () => 0);
        const wait = backoffMs(count, policy);
        return wait <= longest && wait >= longest / 2;
      }),
    );
  });

  test("rejects with the signal's reason when aborted, and leaves no timer or listener", async () => {
    const controller = new AbortController();
    const run = withRetry(() => Promise.reject(refused), {
      policy: retryPolicy("retry"),
      signal: controller.signal,
      isSafe: () => true,
      onRetry: () => {},
    });
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort("enough");
    await expect(run).rejects.toBe("enough");
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["soon", undefined],
  ["7", 7_000],
  ["0.5", 500],
  ["-3", 0],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 20_000],
  ["Thu, 01 Jan 1970 00:00:01 GMT", 0],
])("Retry-After %j is %j ms", (header, waitMs) => {
  expect(parseRetryAfter(header, 40_000)).toBe(waitMs);
});

test.each<[unknown, unknown]>([
  [{ attempts: 0 }, InvalidArgumentError],
  [{ attempts: 1.5 }, InvalidArgumentError],
  [{ attempts: "3" }, InvalidTypeError],
  [{ delayMs: -1 }, InvalidArgumentError],
  [{ factor: 0.5 }, InvalidArgumentError],
  [{ factor: "2" }, InvalidTypeError],
  [{ maxDelayMs: Number.NaN }, InvalidArgumentError],
  [{ maxRetryAfterMs: -1 }, InvalidArgumentError],
  [{ retries: 3 }, InvalidArgumentError],
  [true, InvalidTypeError],
])("refuses retry: %j", (options, errorClass) => {
  expect(() => retryPolicy("retry", options as RetryOptions)).toThrow(errorClass);
});
