// `mcp_call` items: calls of MCP servers, of the server's own tools, and of executors without items of their own.

import type { JsonObject, JsonValue } from "rondo";
import type { McpCallItem } from "../../protocol/items.ts";
import type { CallItems } from "../executor.ts";

export const mcpItems: CallItems = {
  type: "mcp_call",
  idPrefix: "mcp",
  item: ({ id, label, name, arguments: text, approvalId }, outcome): McpCallItem => ({
    type: "mcp_call",
    id,
    server_label: label,
    name,
    arguments: outcome ? text : "",
    output: outcome && "output" in outcome ? outcome.output : null,
    error:
      outcome && "error" in outcome
        ? { type: "mcp_tool_execution_error", content: [{ type: "text", text: outcome.error }] }
        : null,
    status: !outcome ? "in_progress" : "error" in outcome ? "failed" : "completed",
    approval_request_id: approvalId ?? null,
  }),
  begun: ({ arguments: text }) => [
    { type: "response.mcp_call.in_progress" },
    { type: "response.mcp_call_arguments.delta", delta: text },
    { type: "response.mcp_call_arguments.done", arguments: text },
  ],
  ended: (_, outcome) => [{ type: `response.mcp_call.${"error" in outcome ? "failed" : "completed"}` }],
  read: (item) => {
    const { server_label: label, name, arguments: text, approval_request_id: approvalId } = item;
    return {
      label: typeof label === "string" ? label : "",
      name: typeof name === "string" ? name : "",
      arguments: typeof text === "string" ? text : "",
      result: resultOf(item),
      approvalId: typeof approvalId === "string" ? approvalId : undefined,
    };
  },
};

function resultOf({ output, error }: JsonObject): string | undefined {
  const result = errorText(error) ?? output ?? undefined;
  return result === undefined || typeof result === "string" ? result : JSON.stringify(result);
}

/** The error of a call, in this server's shape or in another's. */
function errorText(error: JsonValue | undefined): JsonValue | undefined {
  if (typeof error !== "object" || error === null || Array.isArray(error)) return error ?? undefined;
  const { content, message } = error;
  const texts = Array.isArray(content) ? content.map((part) => Object(part) as { text?: unknown }) : [];
  const text = texts.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
  return text === "" ? (message ?? error) : text;
}
