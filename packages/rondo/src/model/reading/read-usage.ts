// Reads how many tokens a call has cost, from wherever in a chunk a server puts it.

import type { Usage } from "../provider.ts";

/** Undefined when the value does not tell. */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const input = count(fields["prompt_tokens"]) ?? count(fields["input_tokens"]);
  const output = count(fields["completion_tokens"]) ?? count(fields["output_tokens"]);
  const total = count(fields["total_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0));
  const outputTokens = output ?? Math.max(0, (total ?? 0) - inputTokens);
  return { inputTokens, outputTokens, totalTokens: total ?? inputTokens + outputTokens };
}

/** The `timings` of llama.cpp, which are there even when no usage was asked for. */
export function readTimings(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { prompt_n, cache_n, predicted_n } = value as Record<string, unknown>;
  const prompt = count(prompt_n);
  const outputTokens = count(predicted_n);
  if (prompt === undefined || outputTokens === undefined) return undefined;
  const inputTokens = prompt + (count(cache_n) ?? 0);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
