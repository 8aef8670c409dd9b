// Work that Ctrl-C ends: it is asked to stop, gets time to clean up, and is left at once when asked again.

import { type CliIo, Exit, exitCodes } from "./cli-io.ts";

export interface InterruptibleOptions {
  /** How long the work may clean up after it was asked to stop. Default: 10,000. */
  readonly graceMs?: number;
  /** Called when it is asked to stop. */
  readonly onStop?: () => void;
}

/**
 * Runs the work with a signal that Ctrl-C aborts. Throws an `Exit` with 130 when it was interrupted, after the
 * work has ended in any way, or its time to clean up has.
 */
export async function interruptible<T>(
  io: CliIo,
  work: (signal: AbortSignal) => Promise<T>,
  { graceMs = 10_000, onStop }: InterruptibleOptions = {},
): Promise<T> {
  const controller = new AbortController();
  const stopped = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const release = io.onStop(() => {
    if (controller.signal.aborted) {
      io.leave(exitCodes.interrupted);
      return;
    }
    timer = setTimeout(stopped.resolve, graceMs);
    controller.abort(new DOMException("The run was interrupted.", "AbortError"));
    onStop?.();
  });
  try {
    const working = work(controller.signal);
    await Promise.race([working, stopped.promise]).catch(() => {});
    if (controller.signal.aborted) throw new Exit(exitCodes.interrupted);
    return await working;
  } finally {
    clearTimeout(timer);
    release();
  }
}
