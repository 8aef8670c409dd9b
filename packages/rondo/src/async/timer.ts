// Timers for any duration: `setTimeout` fires at once for anything above 2^31 - 1 ms.

const longestTimerMs = 2 ** 31 - 1;

/** A duration that `setTimeout` accepts. For a longer wait, the caller must check the clock and wait again. */
export function timerMs(durationMs: number): number {
  return Math.min(Math.max(0, durationMs), longestTimerMs);
}

/** Calls `action` after `durationMs`, never for `Infinity`. Returns a function that cancels it. */
export function after(durationMs: number, action: () => void): () => void {
  if (durationMs === Number.POSITIVE_INFINITY) return () => {};
  let timer: ReturnType<typeof setTimeout>;
  const deadline = performance.now() + durationMs;
  const wait = () => {
    const leftMs = deadline - performance.now();
    timer = setTimeout(leftMs > longestTimerMs ? wait : action, timerMs(leftMs));
  };
  wait();
  return () => clearTimeout(timer);
}

/** Waits until `promise` settles, for at most `durationMs`. Returns whether it did. */
export function settlesWithin(promise: PromiseLike<unknown>, durationMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = after(durationMs, () => resolve(false));
    const settled = () => {
      cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
