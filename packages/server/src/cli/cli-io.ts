// What a command has of the world: so that commands can be run by tests without a process of their own.

import type { Environment } from "../config/overrides.ts";

export interface CliIo {
  readonly env: Environment;
  readonly cwd: string;
  /** To standard output: what was asked for. */
  write(text: string): void;
  /** To standard error: everything else. */
  writeError(text: string): void;
  /** Calls `listener` each time the user or the system wants the command to end. Returns how to stop that. */
  onStop(listener: () => void): () => void;
  /** Ends the process at once. */
  leave(exitCode: number): void;
}

/** Exit codes: what scripts can rely on. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const;

const stopSignals = ["SIGINT", "SIGTERM"] as const;

export function processIo(): CliIo {
  return {
    env: process.env,
    cwd: process.cwd(),
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    onStop(listener) {
      for (const signal of stopSignals) process.on(signal, listener);
      return () => {
        for (const signal of stopSignals) process.off(signal, listener);
      };
    },
    leave: (exitCode) => process.exit(exitCode),
  };
}
