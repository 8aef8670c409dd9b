// Input items as lists return them: in the API's long form, however they were sent.

import type { JsonValue } from "rondo";
import { itemWithoutCredentials } from "./credentials.ts";
import type { InputItem } from "./items.ts";

export function expandInputItem(item: InputItem): InputItem {
  switch (item.type) {
    case "message": {
      const isAnswer = item["role"] === "assistant";
      const content = toParts(item["content"] ?? "", isAnswer);
      return { ...item, content, status: item["status"] ?? "completed" };
    }
    case "function_call":
    case "function_call_output":
    case "custom_tool_call":
    case "custom_tool_call_output":
      return { ...item, status: item["status"] ?? "completed" };
    case "additional_tools":
    case "tool_search_output":
      return itemWithoutCredentials(item);
    case "mcp_approval_request": {
      const { approval_request_id: _kept, ...shown } = item;
      return shown;
    }
    default:
      return item;
  }
}

function toParts(content: JsonValue, isAnswer: boolean): JsonValue {
  const parts = Array.isArray(content) ? content : [{ type: "input_text", text: content }];
  return isAnswer ? parts.map(toOutputPart) : parts;
}

function toOutputPart(part: JsonValue): JsonValue {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  const { type, text } = part;
  if (type === "refusal" || typeof text !== "string") return part;
  return {
    type: "output_text",
    annotations: [],
    logprobs: [],
    ...part,
    ...(type !== "output_text" && { type: "output_text" }),
  };
}
