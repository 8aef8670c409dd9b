// Stops waiting when a signal says so, whether or not what is waited for heeds it.

/** The outcome of `work`; rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    const settle = () => signal.removeEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
    Promise.resolve(work).finally(settle).then(resolve, reject);
  });
}
