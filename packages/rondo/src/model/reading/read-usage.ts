// Reads the usage of an answer, in all shapes that servers send.

import type { JsonObject } from "../../json/json-value.ts";
import type { Usage } from "../provider.ts";

/** Far beyond any context, and small enough that sums stay exact. */
const maxTokens = 1_000_000_000_000;

/** Undefined if the value has no usage. */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const input = count(fields["prompt_tokens"]) ?? count(fields["input_tokens"]);
  const output = count(fields["completion_tokens"]) ?? count(fields["output_tokens"]);
  const total = count(fields["total_tokens"]);
  if (input === undefined && output === undefined) return undefined;
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0));
  const outputTokens = output ?? Math.max(0, (total ?? 0) - inputTokens);
  const cached = detail(fields, "prompt_tokens_details", "input_tokens_details", "cached_tokens");
  const reasoning = detail(fields, "completion_tokens_details", "output_tokens_details", "reasoning_tokens");
  return {
    inputTokens,
    outputTokens,
    // It may be more than the sum, but not less.
    totalTokens: Math.max(total ?? 0, inputTokens + outputTokens),
    ...(cached !== undefined && { cachedTokens: cached }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

/** The `timings` of llama.cpp, which are present even if no usage was requested. */
export function readTimings(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { prompt_n, cache_n, predicted_n } = value as Record<string, unknown>;
  const prompt = count(prompt_n);
  const outputTokens = count(predicted_n);
  if (prompt === undefined || outputTokens === undefined) return undefined;
  const cachedTokens = count(cache_n);
  const inputTokens = prompt + (cachedTokens ?? 0);
  const totalTokens = inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, ...(cachedTokens !== undefined && { cachedTokens }) };
}

/** More are not measurements. */
const maxMeasurements = 32;

/** What a server measured itself: its numbers, as they came. */
export function keepTimings(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const numbers = Object.entries(value).filter(([, it]) => Number.isFinite(it));
  return numbers.length === 0 ? undefined : Object.fromEntries(numbers.slice(0, maxMeasurements));
}

function detail(
  fields: Record<string, unknown>,
  chatName: string,
  responsesName: string,
  key: string,
): number | undefined {
  const details = fields[chatName] ?? fields[responsesName];
  if (typeof details !== "object" || details === null) return undefined;
  return count((details as Record<string, unknown>)[key]);
}

/** A plausible number of tokens, as a whole number. */
function count(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= maxTokens ? Math.round(value) : undefined;
}
