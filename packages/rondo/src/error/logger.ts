// Warnings: problems that must not stop a run.

import { InvalidTypeError } from "./argument-errors.ts";

/** Receives the library's warnings. */
export interface Logger {
  warn(message: string, details?: unknown): void;
}

const consoleLogger: Logger = {
  warn: (message, details) => {
    if (details === undefined) console.warn(`rondo: ${message}`);
    else console.warn(`rondo: ${message}`, details);
  },
};

let current = consoleLogger;

/** Sends the library's warnings to `logger`; without an argument, back to `console.warn` (the default). */
export function setLogger(logger: Logger = consoleLogger): void {
  if (typeof (logger as Partial<Logger> | null)?.warn !== "function")
    throw new InvalidTypeError({
      field: "logger",
      expected: "an object with a method warn(message, details)",
      received: logger,
    });
  current = logger;
}

/** Reports a warning. A logger that throws must not break the run that warns. */
export function warn(message: string, details?: unknown): void {
  try {
    const outcome: unknown = current.warn(message, details);
    if (outcome instanceof Promise) outcome.catch(() => consoleLogger.warn(message, details));
  } catch {
    consoleLogger.warn(message, details);
  }
}
