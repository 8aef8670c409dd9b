// Invalid input of a tool, worded so that a model can correct it.

import { brandErrors } from "./rondo-error.ts";

/** One problem of a tool's input. */
export interface InputIssue {
  /** Where: `city`, `stops[2].name`, or an empty string for the input as a whole. */
  readonly path: string;
  /** What was expected and what was received. */
  readonly message: string;
}

/** A tool's input does not fit its schema. The tool has not run. Extends `TypeError`. */
export class InvalidInputError extends TypeError {
  readonly code = "invalid_input";
  readonly toolName: string;
  readonly issues: readonly InputIssue[];

  constructor(toolName: string, issues: readonly InputIssue[]) {
    const list = issues
      .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
      .join("; ");
    super(`Invalid input for the tool '${toolName}': ${list}.`);
    this.toolName = toolName;
    this.issues = issues;
  }
}

brandErrors({ InvalidInputError });
