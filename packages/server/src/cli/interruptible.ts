// Work that Ctrl-C ends: it is asked to stop, gets time to clean up, and is left at once when asked again.

import { type CliIo, Exit, exitCodes } from "./cli-io.ts";

/** How long the work may clean up after it was asked to stop, and when the person is told that it does. */
const graceMs = 10_000;
const tellAfterMs = 1000;
const stopping = `\nStopping: it has up to ${graceMs / 1000} s to clean up. Press Ctrl-C again to leave at once.\n`;

/**
 * Runs the work with a signal that Ctrl-C aborts. Throws an `Exit` with 130 when it was interrupted, after the
 * work has ended in any way, or its time to clean up has.
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
