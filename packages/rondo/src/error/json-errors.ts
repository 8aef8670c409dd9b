// What cannot be written as JSON, and JSON that cannot be read.

import { describe } from "./describe.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** A value cannot be saved without losing something. Nothing was called or changed on the way. */
export class UnserializableError extends RondoError {
  readonly code = "unserializable";
  /** Where the value stands, such as `input.callback`. */
  readonly path: string;

  constructor(path: string, value: unknown, why = "it would not survive the way to JSON and back") {
    super(`Cannot save ${path}: ${describe(value)}, and ${why}.`);
    this.path = path;
  }
}

/** Saved data has another shape than the reader expects, or comes from a newer version of the library. */
export class InvalidJsonError extends RondoError {
  readonly code = "invalid_json";
  /** Where in the data the problem is, such as `agent.queue[2].toolName`. */
  readonly path: string;

  constructor(path: string, expected: string, received: unknown) {
    super(`Cannot read ${path}: expected ${expected}, got ${describe(received)}.`);
    this.path = path;
  }
}

brandErrors({ UnserializableError, InvalidJsonError });
