// What a command has of the world: so that commands can be run by tests without a process of their own.

import type { Readable, Writable } from "node:stream";
import { isatty } from "node:tty";
import type { Environment } from "../config/overrides.ts";

/** What is typed or piped in. */
export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };

/** What is drawn on, or piped to. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

export interface CliIo {
  readonly env: Environment;
  readonly cwd: string;
  /** Standard input. Whether it is a terminal says its `isTTY`. */
  readonly input: InputStream;
  /** Standard output as a stream, for what has to know whether it is a terminal and how wide. */
  readonly output: OutputStream;
  /** Whether standard error is a terminal. */
  readonly isErrorTerminal: boolean;
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
export const exitCodes = { ok: 0, failure: 1, usage: 2, interrupted: 130, unread: 141 } as const;

/** Thrown by a command that has said all there is to say: only its exit code is left. */
export class Exit extends Error {
  override readonly name = "Exit";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The command ends with exit code ${exitCode}.`);
    this.exitCode = exitCode;
  }
}

const stopSignals = ["SIGINT", "SIGTERM"] as const;

export function processIo(): CliIo {
  // Whoever read the output, `head` for example, has had enough: no reason for a stack trace.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(exitCodes.unread);
  });
  return {
    env: process.env,
    cwd: process.cwd(),
    // Not before someone reads it: an open standard input keeps the process alive.
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
