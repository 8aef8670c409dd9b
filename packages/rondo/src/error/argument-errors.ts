// The caller's mistakes: an argument of the wrong type, or of the right type with a value that cannot be used.

import { describe } from "./describe.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** What both argument errors carry. */
export interface ArgumentProblem {
  /** The argument or option, as a path: `timeoutMs`, `tools[1]`. */
  readonly field: string;
  /** What would have been right. */
  readonly expected: string;
  /** What came instead. */
  readonly received?: unknown;
  /** What to do about it, as a sentence. */
  readonly hint?: string;
}

/** An argument has the right type but a value that cannot be used: a limit of 0, a name that is taken. */
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

/** An argument has the wrong type, also where only the kind of a function is wrong. Extends `TypeError`. */
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
