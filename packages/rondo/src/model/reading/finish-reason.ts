// Normalizes the finish reasons of servers.

import type { FinishReason } from "../provider.ts";

/** The words of servers for each reason. */
const synonyms = {
  stop: ["stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed"],
  tool_calls: ["tool_calls", "tool_call", "tool_use", "function_call"],
  length: ["length", "max_tokens", "model_length", "model_context_window_exceeded"],
  content_filter: ["content_filter", "safety", "refusal"],
} satisfies Partial<Record<FinishReason, readonly string[]>>;

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries(synonyms).flatMap(([reason, words]) =>
    words.map((word) => [word, reason as FinishReason] as const),
  ),
);

/** The reasons of servers that stopped in the middle of an answer. */
const interrupted = new Set([
  "abort",
  "aborted",
  "cancelled",
  "canceled",
  "error",
  "insufficient_system_resource",
  "timeout",
]);

/** Whether this reason means that the answer was cut off. */
export function isCutReason(reason: string): boolean {
  const kind = toFinishReason(reason);
  return kind === "length" || kind === "content_filter" || interrupted.has(reason.toLowerCase());
}

/** `unknown` for a word that no known server uses. */
export function toFinishReason(reason: string): FinishReason {
  return reasons.get(reason.toLowerCase()) ?? "unknown";
}

/**
 * The reason that matches the content: some servers send `stop`, or nothing, after tool calls, and some send
 * `tool_calls` without any.
 */
export function settleFinishReason(
  reason: FinishReason | undefined,
  { hasCalls, isCutOff }: { hasCalls: boolean; isCutOff: boolean },
): FinishReason {
  if (reason === "length" || reason === "content_filter") return reason;
  if (isCutOff && reason === undefined) return "unknown";
  if (hasCalls) return "tool_calls";
  return reason === "tool_calls" ? "stop" : (reason ?? "unknown");
}
