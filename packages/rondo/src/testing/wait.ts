// Waiting that an abort ends at once, and that leaves no timer and no listener behind.

import { after } from "../async/timer.ts";

/** Waits for a promise; rejects with the signal's reason as soon as it is aborted. */
export async function waitFor<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits for a time; rejects with the signal's reason as soon as it is aborted. `Infinity` waits for the abort. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = after(durationMs, resolve);
  try {
    await waitFor(promise, signal);
  } finally {
    cancel();
  }
}
