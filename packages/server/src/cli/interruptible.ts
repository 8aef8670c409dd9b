// Work that Ctrl-C aborts, with time to clean up; a second Ctrl-C leaves at once.

import { type CliIo, Exit, exitCodes } from "./cli-io.ts";

/** How long cleanup may take, and after how long the user is told about it. */
const graceMs = 10_000;
const tellAfterMs = 1000;
const stopping = `\nStopping: it has up to ${graceMs / 1000} s to clean up. Press Ctrl-C again to leave at once.\n`;

/**
 * Runs the work with a signal that Ctrl-C aborts. If aborted, throws an `Exit` with 130 once the work has ended, or
 * its time to clean up is over.
 */
export async function interruptible<T>(io: CliIo, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stopped = Promise.withResolvers<void>();
  const timers: NodeJS.Timeout[] = [];
  const release = io.onStop(() => {
    if (controller.signal.aborted) {
      io.leave(exitCodes.interrupted);
      return;
    }
    timers.push(setTimeout(stopped.resolve, graceMs));
    timers.push(setTimeout(() => io.writeError(stopping), tellAfterMs));
    controller.abort(new DOMException("The run was interrupted.", "AbortError"));
  });
  try {
    const working = work(controller.signal);
    await Promise.race([working, stopped.promise]).catch(() => {});
    if (controller.signal.aborted) throw new Exit(exitCodes.interrupted);
    return await working;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    release();
  }
}
