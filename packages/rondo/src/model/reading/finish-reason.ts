// Brings the words that servers use for why a model has stopped to a few.

import type { FinishReason } from "../provider.ts";

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["completed", "stop"],
  ["tool_calls", "tool_calls"],
  ["tool_call", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["refusal", "content_filter"],
]);

/** What servers say when they gave up in the middle of an answer. */
const givenUp = new Set([
  "abort",
  "aborted",
  "cancelled",
  "canceled",
  "error",
  "insufficient_system_resource",
  "timeout",
]);

/** Whether the answer, by this reason, was cut off before the model had ended it. */
export function isCutReason(reason: string): boolean {
  const kind = toFinishReason(reason);
  return kind === "length" || kind === "content_filter" || givenUp.has(reason.toLowerCase());
}

/** `unknown` for words that no server was seen to use. */
export function toFinishReason(reason: string): FinishReason {
  return reasons.get(reason.toLowerCase()) ?? "unknown";
}

/**
 * The reason that fits what came: servers say `stop`, or nothing, after tool calls, and some say `tool_calls`
 * when there are none.
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
