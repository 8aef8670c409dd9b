// Errors of saving as JSON and of reading it back.

import { describe } from "./describe.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** A value cannot be saved without loss. Nothing was called or changed. */
export class UnserializableError extends RondoError {
  readonly code = "unserializable";
  /** The place of the value, such as `input.callback`. */
  readonly path: string;

  constructor(path: string, value: unknown, why = "it cannot be restored from JSON") {
    super(`Cannot save ${path}: ${describe(value)}, and ${why}.`);
    this.path = path;
  }
}

/** Saved data has another shape than the reader expects, or comes from a newer version of the library. */
export class InvalidJsonError extends RondoError {
  readonly code = "invalid_json";
  /** The place of the problem, such as `agent.queue[2].toolName`. */
  readonly path: string;

  constructor(path: string, expected: string, received: unknown) {
    super(`Cannot read ${path}: expected ${expected}, got ${describe(received)}.`);
    this.path = path;
  }
}

brandErrors({ UnserializableError, InvalidJsonError });
