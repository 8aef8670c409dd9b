// One validation: its issues, and how much work it may still do.

import { describe } from "../../error/describe.ts";
import type { InputIssue } from "../../error/input-error.ts";

/** The steps of one validation, about half a second in all. A step is a keyword at a value, or as much work. */
const maxSteps = 5_000_000;
/** How deep a validation follows a value, through references too. */
const maxDepth = 1000;
/** More issues help nobody. */
const maxIssues = 20;
const maxPathLength = 200;

/** A place in the value, as a linked list up to the root: most places are never reported. */
export interface Place {
  readonly outer: Place | undefined;
  readonly step: PropertyKey;
}

/** The evaluated properties or items of one value, for `unevaluatedProperties` and `unevaluatedItems`. */
export type Evaluated = Set<PropertyKey>;

/** The value takes too much work to check. */
export class BudgetError extends Error {}

export class Validation {
  readonly issues: InputIssue[] = [];
  #stepsLeft: number;
  #depth = 0;
  /** How many of the running checks report no issues. */
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

  /** Always false, so that a check can return it. The message is only made if it is reported. */
  fail(place: Place | undefined, message: () => string): false {
    if (this.#silent === 0 && this.issues.length < maxIssues)
      this.issues.push({ path: shorten(pathOf(stepsTo(place))), message: message() });
    return false;
  }

  /** Fails, and names the value that came. */
  refuse(place: Place | undefined, message: string, value: unknown): false {
    return this.fail(place, () => `${message}, got ${describe(value)}`);
  }

  /** Runs a check whose issues are not reported. */
  silently<T>(check: () => T): T {
    this.#silent += 1;
    const result = check();
    this.#silent -= 1;
    return result;
  }
}

/** Truncates a path for a message: keys may be of any length. */
export function shorten(path: string): string {
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
}

/** A path as in code: `stops[2].name`. */
export function pathOf(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>((path, step) => {
    const name = String(step);
    if (/^\d+$/.test(name)) return `${path}[${name}]`;
    return path === "" ? name : `${path}.${name}`;
  }, "");
}

function stepsTo(place: Place | undefined): PropertyKey[] {
  const steps: PropertyKey[] = [];
  for (let at = place; at; at = at.outer) steps.push(at.step);
  return steps.toReversed();
}
