// Separates the credentials for MCP servers from a request: they are stored sealed, and only while a run may need them.

import type { JsonObject } from "rondo";
import { toolsOfItem } from "./client-tools.ts";
import type { InputItem } from "./items.ts";
import type { ToolDefinition } from "./tools.ts";

/** Each tool with credentials, whole, by its index in `tools`, or in the `tools` of an input item. */
interface Credentials {
  readonly tools: Readonly<Record<number, JsonObject>>;
  readonly input: Readonly<Record<number, Readonly<Record<number, JsonObject>>>>;
}

interface Holder {
  readonly tools: readonly ToolDefinition[];
  readonly input: readonly InputItem[];
}

/** A tool without the credentials for its MCP server: headers, and the query of its URL. */
export function withoutCredentials<T extends JsonObject>(tool: T): T {
  const { type, tools } = tool;
  if (type === "mcp") {
    const { authorization: _secret, headers: _secrets, ...rest } = tool;
    return (hasQuery(rest) ? { ...rest, server_url: withoutQuery(rest.server_url) } : rest) as T;
  }
  const isNamespace = type === "namespace" && Array.isArray(tools);
  return isNamespace ? { ...tool, tools: (tools as JsonObject[]).map(withoutCredentials) } : tool;
}

/** An item as it may be stored and shown. */
export function itemWithoutCredentials<T extends { readonly type: string }>(item: T): T {
  const tools = toolsOfItem(item);
  return tools.length > 0 ? { ...item, tools: tools.map(withoutCredentials) } : item;
}

/** The credentials of a request as JSON; undefined if it has none. */
export function credentialsOf({ tools, input }: Holder): string | undefined {
  const ofTools = collect(tools);
  const ofInput: Record<number, Record<number, JsonObject>> = {};
  for (const [index, item] of input.entries()) {
    const found = collect(toolsOfItem(item));
    if (Object.keys(found).length > 0) ofInput[index] = found;
  }
  if (Object.keys(ofTools).length + Object.keys(ofInput).length === 0) return undefined;
  return JSON.stringify({ tools: ofTools, input: ofInput } satisfies Credentials);
}

/** Puts the credentials back. */
export function withCredentials<T extends Holder>(holder: T, json: string): T {
  const { tools, input } = JSON.parse(json) as Credentials;
  return {
    ...holder,
    tools: restore(holder.tools, tools),
    input: holder.input.map((item, index) => {
      const found = input[index];
      return found ? { ...item, tools: restore(toolsOfItem(item), found) } : item;
    }),
  };
}

function collect(tools: readonly JsonObject[]): Record<number, JsonObject> {
  return Object.fromEntries(tools.flatMap((tool, index) => (hasCredentials(tool) ? [[index, tool]] : [])));
}

function hasCredentials(tool: JsonObject): boolean {
  const { type, tools, authorization, headers } = tool;
  if (type === "mcp") return authorization !== undefined || headers !== undefined || hasQuery(tool);
  return type === "namespace" && Array.isArray(tools) && (tools as JsonObject[]).some(hasCredentials);
}

/** Many servers take a key in the query. */
function hasQuery(tool: JsonObject): tool is JsonObject & { server_url: string } {
  const { server_url: url } = tool;
  return typeof url === "string" && /[?#]/.test(url);
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

function restore<T extends JsonObject>(
  tools: readonly T[],
  found: Readonly<Record<number, JsonObject>>,
): T[] {
  return tools.map((tool, index) => ({ ...tool, ...found[index] }));
}
