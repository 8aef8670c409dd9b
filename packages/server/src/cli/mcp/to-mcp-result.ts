// What a tool has returned, in the shape of MCP's results.

import { type CallToolResult, isCallToolResult } from "@modelcontextprotocol/server";

/** Results that are MCP's already stay; text is text, and everything else JSON. */
export function toMcpResult(value: unknown): CallToolResult {
  if (typeof value === "object" && value !== null && "content" in value && isCallToolResult(value))
    return value;
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  const text = JSON.stringify(value) ?? "null";
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return {
    content: [{ type: "text", text }],
    ...(isObject && { structuredContent: JSON.parse(text) as Record<string, unknown> }),
  };
}
