// The text of an MCP result: its text blocks, and a note for each other block.

import { isPlainObject } from "../error/check.ts";

type Block = Record<string, unknown>;

export interface McpResult {
  readonly content: readonly Block[];
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

export function isMcpResult(value: unknown): value is McpResult {
  return isPlainObject(value) && Array.isArray(value["content"]) && value["content"].every(isPlainObject);
}

/** The text of a result; undefined if a block is not one of MCP's: then it is not an MCP result. */
export function mcpText({ content, structuredContent }: McpResult): string | undefined {
  if (content.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  const texts = content.map(blockText);
  return texts.every((text) => text !== undefined) ? texts.join("\n") : undefined;
}

function blockText(block: Block): string | undefined {
  const { type, text, data, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if ((type === "image" || type === "audio") && typeof data === "string")
    return `[${type}, ${kindOf(block)}, ${sizeOf(data)}: not shown]`;
  if (type === "resource_link" && typeof block["uri"] === "string")
    return `[link: ${[block["title"] ?? block["name"], block["uri"], block["description"]].filter(Boolean).join(" – ")}]`;
  if (type !== "resource" || !isPlainObject(resource)) return undefined;
  if (typeof resource["text"] === "string") return resource["text"];
  const size = typeof resource["blob"] === "string" ? `, ${sizeOf(resource["blob"])}` : "";
  return `[resource ${String(resource["uri"])}, ${kindOf(resource)}${size}: not shown]`;
}

function kindOf({ mimeType }: Block): string {
  return typeof mimeType === "string" ? mimeType : "of an unknown type";
}

/** Of base64. */
function sizeOf(data: string): string {
  const bytes = Math.floor((data.replace(/=+$/, "").length * 3) / 4);
  return bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`;
}
