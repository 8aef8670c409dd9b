// Mistakes of the caller: an argument of the wrong type, or with an invalid value.

import { describe } from "./describe.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** The data of both argument errors. */
export interface ArgumentProblem {
  /** The argument or option, as a path: `timeoutMs`, `tools[1]`. */
  readonly field: string;
  /** What was expected. */
  readonly expected: string;
  /** What was received. */
  readonly received?: unknown;
  /** What to do about it, as a sentence. */
  readonly hint?: string | undefined;
}

/** An argument has the right type but an invalid value: a limit of 0, a name that is taken. */
export class InvalidArgumentError extends RondoError {
  readonly code = "invalid_argument";
  readonly field: string;
  readonly expected: string;
  readonly received: unknown;

  constructor(problem: ArgumentProblem, options?: ErrorOptions) {
    super(wordProblem(problem), options);
    this.field = problem.field;
    this.expected = problem.expected;
    this.received = problem.received;
  }
}

/** An argument has the wrong type, such as a function that is not async. Extends `TypeError`. */
export class InvalidTypeError extends TypeError {
  readonly code = "invalid_type";
  readonly field: string;
  readonly expected: string;
  readonly received: unknown;

  constructor(problem: ArgumentProblem, options?: ErrorOptions) {
    super(wordProblem(problem), options);
    this.field = problem.field;
    this.expected = problem.expected;
    this.received = problem.received;
  }
}

function wordProblem({ field, expected, received, hint }: ArgumentProblem): string {
  const sentence = `${field}: expected ${expected}, got ${describe(received)}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}

brandErrors({ InvalidArgumentError, InvalidTypeError });
