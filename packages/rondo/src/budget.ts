// Everything that `rondo/budget` offers: token estimates, and ways to keep a conversation small.

export { fitToWindow } from "./client/fit-to-window.ts";
export { type TruncateOptions, truncateMessages } from "./client/truncate-messages.ts";
export { type BudgetOptions, ContextBudgetError, truncateToBudget } from "./client/truncate-to-budget.ts";
export { type EstimateOptions, estimateTokens } from "./model/estimate-tokens.ts";
export { type TokenCalibration, tokenCalibration } from "./model/token-calibration.ts";
