// What a command uses of its process, so that tests can run commands without one.

import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import type { Environment } from "../config/overrides.ts";

/** Standard input: typed or piped. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** Standard output: a terminal or a pipe. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

export interface CliIo {
  readonly env: Environment;
  readonly cwd: string;
  /** Standard input; its `isTTY` tells whether it is a terminal. */
  readonly input: InputStream;
  /** Standard output as a stream: whether it is a terminal, and how wide. */
  readonly output: OutputStream;
  /** Whether standard error is a terminal. */
  readonly isErrorTerminal: boolean;
  /** To standard output: the result. */
  write(text: string): void;
  /** To standard error: everything else. */
  writeError(text: string): void;
  /** Calls `listener` on each SIGINT or SIGTERM. Returns a function that removes it. */
  onStop(listener: () => void): () => void;
  /** Ends the process at once. */
  leave(exitCode: number): void;
}

/** Exit codes: what scripts can rely on. */
export const exitCodes = { ok: 0, failure: 1, usage: 2, interrupted: 130, unread: 141 } as const;

/** Thrown by a command that has printed everything: only the exit code is left. */
export class Exit extends Error {
  override readonly name = "Exit";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The command ends with exit code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}

/** The command was used wrongly: reported like a wrong flag, with the same exit code. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Resolves on the first wish to stop. Call `release` when it no longer matters. */
export function stopRequest(io: CliIo): { requested: Promise<void>; release: () => void } {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  return { requested, release: io.onStop(resolve) };
}

const stopSignals = ["SIGINT", "SIGTERM"] as const;

export function processIo(): CliIo {
  // The reader of the output, such as `head`, closed the pipe: no reason for a stack trace.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(exitCodes.unread);
  });
  return {
    env: process.env,
    cwd: process.cwd(),
    // Opened on demand: an open standard input keeps the process alive.
    get input() {
      return process.stdin;
    },
    get output() {
      return process.stdout;
    },
    isErrorTerminal: isatty(2),
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
