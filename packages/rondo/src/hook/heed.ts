// Hooks are waited for, but they cannot hold a run that was aborted.

import { after } from "../async/timer.ts";
import { warn } from "../error/logger.ts";

/**
 * Waits for hooks. Once the signal is aborted they have `graceMs` to finish what they are at; then they are left
 * behind, and the wait ends with the signal's reason.
 */
export function heed(
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
        settle();
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
