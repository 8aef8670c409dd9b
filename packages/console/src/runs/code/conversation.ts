// Items of the API as messages for the library.

import type { Item } from "../../api/response.ts";
import { textOfParts } from "../trace/items.ts";

export type Message =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ContentPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: ToolCall[] }
  | { role: "tool"; tool_call_id: string; name?: string; content: string };

type ContentPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** The messages. Calls that have no result are left out, with thinking and what only concerns the server. */
export function toMessages(items: readonly Item[]): Message[] {
  const answered = new Set(items.filter(isResult).map((item) => String(item["call_id"])));
  const names = new Map<string, string>();
  const messages: Message[] = [];
  for (const item of items) {
    switch (item.type) {
      case "message":
        messages.push(toMessage(item));
        break;
      case "function_call":
      case "custom_tool_call": {
        const id = String(item["call_id"]);
        if (!answered.has(id)) break;
        names.set(id, String(item["name"]));
        addCall(messages, item, id);
        break;
      }
      case "function_call_output":
      case "custom_tool_call_output": {
        const id = String(item["call_id"]);
        const name = names.get(id);
        if (name !== undefined)
          messages.push({ role: "tool", tool_call_id: id, name, content: textOfParts(item["output"]) });
        break;
      }
      case "mcp_call": {
        const id = item.id ?? `call_${messages.length}`;
        const error = item["error"] as { content?: unknown } | null | undefined;
        const content = error ? textOfParts(error.content ?? error) : textOfParts(item["output"]);
        addCall(messages, item, id);
        messages.push({ role: "tool", tool_call_id: id, name: String(item["name"]), content });
        break;
      }
      default:
    }
  }
  return messages;
}

function isResult({ type }: Item): boolean {
  return type === "function_call_output" || type === "custom_tool_call_output";
}

function toMessage(item: Item): Message {
  const { role, content } = item;
  if (role === "assistant") return { role, content: textOfParts(content) };
  if (role !== "user") return { role: "system", content: textOfParts(content) };
  const parts = Array.isArray(content) ? (content as Record<string, unknown>[]) : [];
  const images = parts.some(({ type, image_url: url }) => type === "input_image" && typeof url === "string");
  if (!images) return { role, content: textOfParts(content) };
  return {
    role,
    content: parts.map(
      (part): ContentPart =>
        part["type"] === "input_image" && typeof part["image_url"] === "string"
          ? { type: "image_url", image_url: { url: part["image_url"] } }
          : { type: "text", text: textOfParts([part]) },
    ),
  };
}

/** Adds a call to the answer that it is a part of, or as an answer of its own. */
function addCall(messages: Message[], item: Item, id: string): void {
  const custom = item.type === "custom_tool_call";
  const text = custom ? JSON.stringify({ input: item["input"] }) : textOfParts(item["arguments"]);
  const call: ToolCall = { id, type: "function", function: { name: String(item["name"]), arguments: text } };
  const last = messages.at(-1);
  if (last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
  else messages.push({ role: "assistant", content: null, tool_calls: [call] });
}

/** What was said before, and what the model is asked now: nothing if the conversation ends with results. */
export function splitPrompt(messages: readonly Message[]): {
  before: readonly Message[];
  prompt: string | ContentPart[];
} {
  const last = messages.at(-1);
  if (last?.role !== "user") return { before: messages, prompt: "" };
  return { before: messages.slice(0, -1), prompt: last.content };
}
