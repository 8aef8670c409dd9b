// Hooks are awaited, but cannot hold an aborted run.

import { after } from "../async/timer.ts";
import { warn } from "../error/logger.ts";

/**
 * Waits for hooks. Once the signal is aborted they have `graceMs` to finish; then they are left behind, and the wait
 * rejects with the signal's reason.
 */
export function waitWithGrace(
  hooks: Promise<void>,
  event: string,
  signal: AbortSignal,
  graceMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let cancelTimer = () => {};
    const onAbort = () => {
      cancelTimer = after(graceMs, () => {
        warn(`A hook of ${event} did not finish within ${graceMs} ms of the abort; it is left behind.`);
        reject(signal.reason);
      });
    };
    const settle = () => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    hooks.finally(settle).then(resolve, reject);
  });
}
