// Waiting that an abort ends at once, even if the awaited work ignores the signal.

import { after } from "./timer.ts";
import { withResolvers } from "./with-resolvers.ts";

/** The outcome of `work`; rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    const settle = () => signal.removeEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    Promise.resolve(work).finally(settle).then(resolve, reject);
  });
}

/** Waits for a time, or until the signal is aborted: then it rejects with the signal's reason. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = withResolvers<void>();
  const cancel = after(durationMs, resolve);
  try {
    await untilAborted(promise, signal);
  } finally {
    cancel();
    resolve();
  }
}
