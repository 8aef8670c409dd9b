// The credentials that a request brings for MCP servers, apart from the request: they are kept only while a run
// may need them, and sealed.

import type { JsonObject, JsonValue } from "rondo";
import type { InputItem } from "./items.ts";
import type { ToolDefinition } from "./tools.ts";

/** For each tool that has any, by its place: in `tools`, or in the `tools` of an item of the input. */
interface Credentials {
  readonly tools: Readonly<Record<number, JsonObject>>;
  readonly input: Readonly<Record<number, Readonly<Record<number, JsonObject>>>>;
}

interface Holder {
  readonly tools: readonly ToolDefinition[];
  readonly input: readonly InputItem[];
}

/** A tool without what is only for the MCP server that it stands for. */
export function withoutCredentials<T extends JsonObject>(tool: T): T {
  if (tool["type"] !== "mcp") return tool;
  const { authorization: _secret, headers: _secrets, ...rest } = tool;
  return rest as T;
}

/** An item as it may be kept and shown. */
export function itemWithoutCredentials<T extends { readonly type: string }>(item: T): T {
  const tools = toolsOf(item);
  return tools ? { ...item, tools: tools.map(withoutCredentials) } : item;
}

/** All credentials of a request, as JSON; undefined if it has none. */
export function credentialsOf({ tools, input }: Holder): string | undefined {
  const ofTools = collect(tools);
  const ofInput: Record<number, Record<number, JsonObject>> = {};
  for (const [index, item] of input.entries()) {
    const found = collect(toolsOf(item) ?? []);
    if (Object.keys(found).length > 0) ofInput[index] = found;
  }
  if (Object.keys(ofTools).length + Object.keys(ofInput).length === 0) return undefined;
  return JSON.stringify({ tools: ofTools, input: ofInput } satisfies Credentials);
}

/** Puts the credentials back into their places. */
export function withCredentials<T extends Holder>(holder: T, json: string): T {
  const { tools, input } = JSON.parse(json) as Credentials;
  return {
    ...holder,
    tools: restore(holder.tools, tools),
    input: holder.input.map((item, index) => {
      const found = input[index];
      return found ? { ...item, tools: restore(toolsOf(item) ?? [], found) } : item;
    }),
  };
}

function toolsOf(item: { readonly type: string }): JsonObject[] | undefined {
  const { tools } = item as { tools?: JsonValue };
  return item.type === "additional_tools" && Array.isArray(tools) ? (tools as JsonObject[]) : undefined;
}

function collect(tools: readonly JsonObject[]): Record<number, JsonObject> {
  return Object.fromEntries(
    tools.flatMap(({ type, authorization, headers }, index) => {
      const found = {
        ...(authorization !== undefined && { authorization }),
        ...(headers !== undefined && { headers }),
      };
      return type === "mcp" && Object.keys(found).length > 0 ? [[index, found]] : [];
    }),
  );
}

function restore<T extends JsonObject>(
  tools: readonly T[],
  found: Readonly<Record<number, JsonObject>>,
): T[] {
  return tools.map((tool, index) => ({ ...tool, ...found[index] }));
}
