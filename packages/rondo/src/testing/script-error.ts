// The error of a test whose requests do not match its script.

import { brandErrors, RondoError } from "../error/rondo-error.ts";

/** The requests do not match the script: there were too many or too few. */
export class ScriptError extends RondoError {
  readonly code = "script_mismatch";
}

brandErrors({ ScriptError });
