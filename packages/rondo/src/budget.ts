// Everything that `rondo/budget` offers: token estimates, and ways to keep a conversation small.

export { type EstimateOptions, estimateTokens } from "./client/estimate-tokens.ts";
export { fitToWindow } from "./client/fit-to-window.ts";
export { type TokenCalibration, tokenCalibration } from "./client/token-calibration.ts";
export { type TruncateOptions, truncateMessages } from "./client/truncate-messages.ts";
export { type BudgetOptions, ContextBudgetError, truncateToBudget } from "./client/truncate-to-budget.ts";
