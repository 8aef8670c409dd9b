// The error of a test whose script does not fit what happened.

import { brandErrors, RondoError } from "../error/rondo-error.ts";

/** What was asked and what the script has do not fit: asked too often, or not often enough. */
export class ScriptError extends RondoError {
  readonly code = "script_mismatch";
}

brandErrors({ ScriptError });
