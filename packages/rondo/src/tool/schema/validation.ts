// One validation: where it is, what it has found, and how much it may still do.

import { describe } from "../../error/describe.ts";
import type { InputIssue } from "../../error/input-error.ts";
import { pathOf } from "./path.ts";

/** The steps of one validation. A step is a keyword at a value, or as much work; all of them take about half a second. */
const maxSteps = 5_000_000;
/** How deep a validation follows a value, through references too. */
const maxDepth = 1000;
/** Nobody mends more at once. */
const maxIssues = 20;
const maxPathLength = 200;

/** A place in the value. A list that leads back to the root, because most places are never told. */
export interface Place {
  readonly outer: Place | undefined;
  readonly step: PropertyKey;
}

/** What a schema has looked at of one object or list, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Looked = Set<PropertyKey>;

/** Says no more about the value than that checking it takes too much. */
export class BudgetError extends Error {}

export class Validation {
  readonly issues: InputIssue[] = [];
  #stepsLeft: number;
  #depth = 0;
  /** How many checks are under way whose complaints nobody reads. */
  #silent = 0;

  constructor(steps = maxSteps) {
    this.#stepsLeft = steps;
  }

  readonly spend = (steps: number): void => {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0)
      throw new BudgetError(
        "expected a value that can be checked in a reasonable time, got one that takes too many steps with this schema. Send less, or simplify the schema",
      );
  };

  enter(): void {
    this.#depth += 1;
    if (this.#depth > maxDepth)
      throw new BudgetError(`expected a value of at most ${maxDepth} levels, got more. Send it less nested`);
  }

  leave(): void {
    this.#depth -= 1;
  }

  /** Always false, so that a check can return it. Words cost more than a step, so only what is read is worded. */
  fail(place: Place | undefined, message: () => string): false {
    if (this.#silent === 0 && this.issues.length < maxIssues)
      this.issues.push({ path: shorten(pathOf(stepsTo(place))), message: message() });
    return false;
  }

  /** Fails with the value that came. */
  refuse(place: Place | undefined, message: string, value: unknown): false {
    return this.fail(place, () => `${message}, got ${describe(value)}`);
  }

  /** Runs a check whose complaints count only as a whole. */
  silently<T>(check: () => T): T {
    this.#silent += 1;
    const result = check();
    this.#silent -= 1;
    return result;
  }
}

/** Keys may be of any length, and a message is to be read. */
export function shorten(path: string): string {
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
}

function stepsTo(place: Place | undefined): PropertyKey[] {
  const steps: PropertyKey[] = [];
  for (let at = place; at; at = at.outer) steps.push(at.step);
  return steps.toReversed();
}
