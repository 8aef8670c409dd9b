// Checks whether a model server would accept a conversation.

import type { Message } from "../index.ts";

/** The flaws of a conversation: each call needs one result, right after it, and each result its call. */
export function flawsOf(messages: readonly Message[]): string[] {
  const flaws: string[] = [];
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) flaws.push(`an answer to no call: ${message.tool_call_id}`);
    } else flaws.push(...[...open].map((id) => `no answer to ${id} before the next ${message.role} message`));
    if (message.role === "assistant") for (const call of message.tool_calls ?? []) open.add(call.id);
  }
  return [...flaws, ...[...open].map((id) => `no answer to ${id}`)];
}
