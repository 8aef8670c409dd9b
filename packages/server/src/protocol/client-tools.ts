// Tools as the client defines them. Models are offered flat functions; calls are returned under the client's names, with
// their namespace, and those of custom tools as plain text.

import type { JsonObject } from "rondo";
import type { ToolDefinition } from "./tools.ts";

/** A tool as its client defines it. */
export type ClientTool = {
  type: "function" | "custom";
  name: string;
  namespace?: string;
};

/** The tool as its client defines it. Undefined for one that is not called by name. */
export function clientTool({ type, name, shown_as: shown }: ToolDefinition): ClientTool | undefined {
  if (shown !== undefined) return shown;
  return type === "function" && name !== undefined ? { type, name } : undefined;
}

/**
 * Adds tools that came later: one that is already known replaces the older one, and one whose name is taken is
 * prefixed with its namespace, or left out.
 */
export function addTools(
  tools: readonly ToolDefinition[],
  more: readonly ToolDefinition[],
): ToolDefinition[] {
  const all = [...tools];
  for (const added of more) {
    const key = keyOf(added);
    const known = all.findIndex((other) => keyOf(other) === key);
    const older = all[known];
    if (older) {
      all[known] = older.name === undefined ? added : { ...added, name: older.name };
      continue;
    }
    const isTaken = (name: string) => all.some((other) => other.name === name);
    const { name } = added;
    if (name === undefined || !isTaken(name)) all.push(added);
    else {
      const { namespace, name: own } = clientTool(added) ?? { name };
      const full = namespace === undefined ? undefined : flatName(namespace, own);
      if (full !== undefined && !isTaken(full)) all.push({ ...added, name: full });
    }
  }
  return all;
}

function keyOf(tool: ToolDefinition): string {
  const { type, name, namespace = null } = clientTool(tool) ?? { type: tool.type, name: tool.name ?? null };
  return JSON.stringify(name === null ? tool : [type, namespace, name]);
}

/** The name of a tool prefixed with its namespace, in the characters that model servers accept. */
export function flatName(namespace: string, name: string): string {
  return `${namespace}__${name}`.replace(/[^\w-]/g, "_").slice(0, maxNameLength);
}

// The limit of the API, and of most model servers.
const maxNameLength = 64;

/** Types of items that add tools to a conversation. */
const toolItems: readonly string[] = ["additional_tools", "tool_search_output"];
const none: readonly JsonObject[] = [];

/** The tools that an item adds, as they came. A search of the server adds none: it has them. */
export function toolsOfItem(item: { readonly type: string }): readonly JsonObject[] {
  if (!toolItems.includes(item.type)) return none;
  const { tools, execution } = item as { tools?: unknown; execution?: unknown };
  const isFoundHere = item.type === "tool_search_output" && execution === "server";
  return Array.isArray(tools) && !isFoundHere ? (tools as JsonObject[]) : none;
}

/** The tools that an item offers to the model. It has read the definitions of those that a search found. */
export function toolsToOffer(item: { readonly type: string }): readonly JsonObject[] {
  const tools = toolsOfItem(item);
  return item.type === "tool_search_output" ? tools.map(deferred) : tools;
}

function deferred(tool: JsonObject): JsonObject {
  const { tools: inner } = tool;
  if (!Array.isArray(inner)) return { ...tool, defer_loading: true };
  return { ...tool, tools: (inner as JsonObject[]).map(deferred) };
}
