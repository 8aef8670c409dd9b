// Lets a follower wait for a store that is away for a moment, such as a database that restarts: its stream goes on
// afterwards, without a gap.

import { isStoreError } from "../store/store-error.ts";

/** How long a follower waits for the store. Longer, and its client had better come again. */
const longestOutageMs = 30_000;
const firstWaitMs = 100;
const longestWaitMs = 2000;

export interface OutageOptions {
  /** Ends the waiting: the error of the store is thrown then. */
  readonly signal: AbortSignal;
  /** Default: 30,000. */
  readonly limitMs?: number | undefined;
}

/** Reads from a store, again and again while it is unavailable. */
export async function readThroughOutage<T>(
  read: () => Promise<T>,
  { signal, limitMs = longestOutageMs }: OutageOptions,
): Promise<T> {
  const startMs = performance.now();
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    try {
      return await read();
    } catch (error) {
      const isTooLong = performance.now() - startMs + waitMs > limitMs;
      if (!isStoreError(error, "unavailable") || isTooLong || signal.aborted) throw error;
      await pause(waitMs, signal);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
}
