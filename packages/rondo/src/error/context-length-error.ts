// The conversation does not fit into the model's context window.

import { ModelError } from "./model-errors.ts";
import { brandError } from "./rondo-error.ts";

/** What a server tells about a request that does not fit into its context window. */
export interface ContextOverflow {
  /** The window in tokens, if the server names it. */
  readonly contextWindow: number | undefined;
  /** The tokens of the prompt as the server counts them, if it does. */
  readonly promptTokens: number | undefined;
}

/** The request, with the answer that it asks for, is longer than the context window. Never retried. */
export class ContextLengthError extends ModelError {
  static {
    brandError(ContextLengthError, "ContextLengthError");
  }
  readonly code = "context_length_exceeded";
  readonly contextWindow: number | undefined;
  readonly promptTokens: number | undefined;
  /** The status of the reply; undefined if the server reported it in the middle of an answer. */
  readonly status: number | undefined;
  /** What the server said, shortened. */
  readonly said: string;
  /** The text that came before, if the server had begun to answer. */
  readonly partialText: string;

  constructor(
    endpoint: string,
    details: ContextOverflow & { said: string; status?: number; partialText?: string },
  ) {
    const { contextWindow, promptTokens, said, status, partialText = "" } = details;
    const size = promptTokens === undefined ? "The request" : `The request, with ${promptTokens} tokens,`;
    const window = contextWindow === undefined ? "" : ` of ${contextWindow} tokens`;
    super(
      endpoint,
      `${size} does not fit into the context window${window} of the model at ${endpoint}, together with its answer` +
        `${said === "" ? "" : ` (${said})`}. Shorten the conversation, for example with truncateToBudget(), lower ` +
        "maxTokens, or start the model server with a larger window.",
    );
    this.contextWindow = contextWindow;
    this.promptTokens = promptTokens;
    this.status = status;
    this.said = said;
    this.partialText = partialText;
  }
}
