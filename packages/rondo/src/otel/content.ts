// What was said, in the form of the conventions: messages of parts. Only for those who ask for it, and within bounds: a
// span is no place for megabytes.

import { isTooDeep } from "../json/depth.ts";
import { jsonSize } from "../json/json-size.ts";
import type { AssistantMessage, ContentPart, Message } from "../model/message.ts";
import type { ModelRequest } from "../model/provider.ts";

/** The longest text of a part, and the longest arguments or result of a tool, in characters. */
const maxText = 16_384;
/** The longest text of all messages of a span. The oldest are left out first. */
const maxMessages = 262_144;
/** How many messages, and how many tools, a span has at most. */
const maxCount = 256;

interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface ChatMessage {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/** The messages that were sent, in order: the newest that fit. */
export function inputMessages(messages: readonly Message[]): ChatMessage[] {
  const taken: ChatMessage[] = [];
  let left = maxMessages;
  for (let index = messages.length - 1; index >= 0 && taken.length < maxCount; index -= 1) {
    const message = toChatMessage(messages[index] as Message);
    left -= jsonSize(message, left);
    if (left < 0) break;
    taken.push(message);
  }
  return taken.toReversed();
}

/** The model's answer. */
export function outputMessage(message: AssistantMessage, finishReason: string): ChatMessage {
  const reason = finishReason === "tool_calls" ? "tool_call" : finishReason;
  return { ...toChatMessage(message), finish_reason: reason };
}

/** The tools that were offered. */
export function toolDefinitions(tools: NonNullable<ModelRequest["tools"]>): unknown[] {
  return tools.slice(0, maxCount).map(({ function: { name, description } }) => ({
    type: "function",
    name,
    ...(description !== undefined && { description: cut(description) }),
  }));
}

/** A value of a tool as JSON text. */
export function toText(value: unknown): string {
  if (typeof value === "string") return cut(value);
  try {
    if (jsonSize(value, maxText) > maxText) return `(left out: longer than ${maxText} characters)`;
    if (isTooDeep(value)) return "(left out: nested too deeply)";
    return JSON.stringify(value) ?? "";
  } catch {
    return "(left out: not JSON)";
  }
}

export function cut(text: string): string {
  return text.length <= maxText
    ? text
    : `${text.slice(0, maxText)}… (${text.length - maxText} characters more)`;
}

function toChatMessage(message: Message): ChatMessage {
  switch (message.role) {
    case "assistant":
      return { role: "assistant", parts: assistantParts(message) };
    case "tool":
      return {
        role: "tool",
        parts: [{ type: "tool_call_response", id: message.tool_call_id, response: cut(message.content) }],
      };
    default: {
      const { role, content } = message;
      return { role, parts: typeof content === "string" ? [text(content)] : content.map(toPart) };
    }
  }
}

function assistantParts({ content, reasoning, tool_calls: calls = [] }: AssistantMessage): Part[] {
  return [
    ...(reasoning ? [{ type: "reasoning", content: cut(reasoning) }] : []),
    ...(content ? [text(content)] : []),
    ...calls.map(({ id, function: { name, arguments: json } }) => ({
      type: "tool_call",
      id,
      name,
      arguments: toArguments(json),
    })),
  ];
}

/** An object where it is one, as the conventions want it. */
function toArguments(json: string): unknown {
  if (json.length > maxText) return cut(json);
  try {
    const value: unknown = JSON.parse(json);
    return isTooDeep(value) ? cut(json) : value;
  } catch {
    return json;
  }
}

function toPart(part: ContentPart): Part {
  if (part.type === "text") return text(part.text);
  const { url } = part.image_url;
  // The bytes of an image in the URL itself stay here.
  return {
    type: "uri",
    modality: "image",
    uri: url.startsWith("data:") ? url.slice(0, url.indexOf(",") + 1) : cut(url),
  };
}

function text(content: string): Part {
  return { type: "text", content: cut(content) };
}
