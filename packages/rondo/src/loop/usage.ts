// Adds up token usage. Fields that no server reported stay unknown.

import type { Usage } from "../model/provider.ts";

export function addUsage(total: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (!total || !more) return total ?? more;
  return {
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    totalTokens: total.totalTokens + more.totalTokens,
    ...sum("cachedTokens", total, more),
    ...sum("reasoningTokens", total, more),
    ...sum("cutTokens", total, more),
  };
}

type OptionalCount = "cachedTokens" | "reasoningTokens" | "cutTokens";

function sum(key: OptionalCount, total: Usage, more: Usage): Partial<Usage> {
  if (total[key] === undefined && more[key] === undefined) return {};
  return { [key]: (total[key] ?? 0) + (more[key] ?? 0) };
}
