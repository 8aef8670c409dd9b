// How the client knows its tools. Models are offered flat functions; calls go back as the client has named them:
// with their namespace, and those of custom tools as plain text.

import type { JsonObject } from "rondo";
import type { ToolDefinition } from "./tools.ts";

/** A tool as its client knows it. */
export type ClientTool = {
  type: "function" | "custom";
  name: string;
  namespace?: string;
};

/** The tool as its client knows it. Undefined for one that is not called by a name. */
export function clientTool({ type, name, shown_as: shown }: ToolDefinition): ClientTool | undefined {
  if (shown !== undefined) return shown;
  return type === "function" && name !== undefined ? { type, name } : undefined;
}

/**
 * Adds tools that came after the others: one that is known already takes the place of the older one, and one whose
 * name is taken gets its namespace before it, or is left out.
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

/** The name of a tool that has to have its namespace in it, in the letters that model servers take. */
export function flatName(namespace: string, name: string): string {
  return `${namespace}__${name}`.replace(/[^\w-]/g, "_").slice(0, longestName);
}

// What the API allows, and with it most model servers.
const longestName = 64;

/** Item types that bring tools into a conversation. */
const toolItems: readonly string[] = ["additional_tools", "tool_search_output"];

/** The tools that an item brings, as they came. */
export function toolsOfItem(item: { readonly type: string }): JsonObject[] {
  if (!toolItems.includes(item.type)) return [];
  const { tools } = item as { tools?: unknown };
  return Array.isArray(tools) ? (tools as JsonObject[]) : [];
}
