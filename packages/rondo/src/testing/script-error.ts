// The error of a test whose script does not fit what happened.

import { brandError, RondoError } from "../error/rondo-error.ts";

/** What was asked and what the script has do not fit: asked too often, or not often enough. */
export class ScriptError extends RondoError {
  static {
    brandError(ScriptError, "ScriptError");
  }
  readonly code = "script_mismatch";
}
