// Tokens of several rounds, added up.

import type { ChatUsage } from "./chat-partner.ts";

/** A round that does not tell adds nothing. */
export function addUsage(sum: ChatUsage | undefined, more: ChatUsage | undefined): ChatUsage | undefined {
  if (!sum || !more) return sum ?? more;
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
  };
}
