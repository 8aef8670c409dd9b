// What Ctrl-C does to a server or a worker.

import { type CliIo, exitCodes } from "./cli-io.ts";

/** The first signal shuts down gracefully, the second ends the process at once. */
export function gracefulStop(
  io: CliIo,
  shutdownMs: number,
  what = "running requests",
): { requested: Promise<void>; release: () => void } {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  let isAsked = false;
  const release = io.onStop(() => {
    if (isAsked) {
      io.leave(exitCodes.failure);
      return;
    }
    isAsked = true;
    const seconds = shutdownMs / 1000;
    io.writeError(`Stopping: ${what} get up to ${seconds} s. Press Ctrl-C again to leave at once.\n`);
    resolve();
  });
  return { requested, release };
}
