// The calls that a conversation ends in.

import type { Message, ToolCall } from "../model/message.ts";

/** The calls of the last answer that have no result yet, in order. */
export function unansweredCalls(messages: readonly Message[]): ToolCall[] {
  const answered = new Set<string>();
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index] as Message;
    if (message.role === "tool") answered.add(message.tool_call_id);
    else if (message.role === "assistant")
      return (message.tool_calls ?? []).filter((call) => !answered.has(call.id));
    else return [];
  }
  return [];
}
