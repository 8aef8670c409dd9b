// The error of a conversation whose least part is too long.

import { brandError, RondoError } from "../error/rondo-error.ts";

/** Even the least that has to stay of a conversation does not fit into the budget. */
export class ContextBudgetError extends RondoError {
  static {
    brandError(ContextBudgetError, "ContextBudgetError");
  }
  readonly code = "context_budget";
  /** What was allowed. */
  readonly maxTokens: number;
  /** What the least costs, as estimated. */
  readonly neededTokens: number;

  constructor(maxTokens: number, neededTokens: number) {
    super(
      `The conversation cannot be cut to ${maxTokens} tokens: what has to stay of it alone has about ` +
        `${neededTokens}. Raise maxTokens, shorten the newest messages, such as long results of tools, or let ` +
        "truncateToBudget() cut into the newest turn too, with cutNewestTurn: true.",
    );
    this.maxTokens = maxTokens;
    this.neededTokens = neededTokens;
  }
}
