// Adds up token usage. Fields that no server reported stay unknown.

import { estimateTokens } from "./estimate-tokens.ts";
import type { ModelRequest, Usage } from "./provider.ts";
import { guessTokens } from "./text-tokens.ts";

export function addUsage(total: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (!total || !more) return total ?? more;
  return {
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    totalTokens: total.totalTokens + more.totalTokens,
    ...sum("cachedTokens", total, more),
    ...sum("reasoningTokens", total, more),
    ...sum("cutTokens", total, more),
    ...((total.estimated || more.estimated) && { estimated: true }),
  };
}

/** The usage of an answer that broke off, which no server reports: what was sent, and what came of the answer. */
export function estimateUsage({ messages, tools = [] }: ModelRequest, said: string): Usage {
  const toolTokens = tools.length > 0 ? guessTokens(JSON.stringify(tools)) : 0;
  const inputTokens = estimateTokens(messages) + Math.ceil(toolTokens);
  const outputTokens = Math.ceil(guessTokens(said));
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, estimated: true };
}

type OptionalCount = "cachedTokens" | "reasoningTokens" | "cutTokens";

function sum(key: OptionalCount, total: Usage, more: Usage): Partial<Usage> {
  if (total[key] === undefined && more[key] === undefined) return {};
  return { [key]: (total[key] ?? 0) + (more[key] ?? 0) };
}
