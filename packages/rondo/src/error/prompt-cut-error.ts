// The model server read only a part of the prompt.

import { ModelError } from "./model-errors.ts";
import { brandError } from "./rondo-error.ts";

/** The server dropped a part of the prompt and answered all the same, and the options make that an error. */
export class PromptCutError extends ModelError {
  static {
    brandError(PromptCutError, "PromptCutError");
  }
  readonly code = "prompt_cut";
  /** The tokens that the server reported. */
  readonly reportedTokens: number;
  /** The fewest tokens that the whole prompt can have. */
  readonly expectedTokens: number;

  constructor(
    endpoint: string,
    cut: { readonly reportedTokens: number; readonly expectedTokens: number; readonly message: string },
  ) {
    super(endpoint, cut.message);
    this.reportedTokens = cut.reportedTokens;
    this.expectedTokens = cut.expectedTokens;
  }
}
