// Tools of the config, which run in this process. To clients they are those of a server with the label `local`.

import type { AnyTool, JsonValue } from "rondo";
import type { ToolDefinition } from "../../protocol/tools.ts";
import type { OfferedTool, ToolExecutor } from "../executor.ts";
import { mcpItems } from "../mcp/mcp-items.ts";

export const localLabel = "local";
export const localHost = "local";

/** `offers`: whether a request has to name the tools to get them. */
export function localExecutor(tools: readonly AnyTool[], offers: "always" | "named"): ToolExecutor {
  const all = tools.flatMap(withSubtools).map(
    (tool): OfferedTool => ({
      tool,
      runsHere: true,
      identity: { host: localHost, label: localLabel, name: tool.wireName },
      items: mcpItems,
    }),
  );
  return {
    kind: "local",
    canExecute: isLocalServer,
    items: mcpItems,
    // All tools, unless the request names those that it needs.
    offer: ({ definitions: [named] }) => {
      if (!named && offers === "named") return { tools: [] };
      const names = named && namesIn(named.definition["allowed_tools"]);
      if (!names) return { tools: all };
      return {
        tools: all.filter(({ tool: { name, wireName } }) => names.includes(name) || names.includes(wireName)),
      };
    },
  };
}

/** `{ type: "mcp", server_label: "local" }` stands for these tools. */
export function isLocalServer({ type, server_label }: ToolDefinition): boolean {
  return type === "mcp" && server_label === localLabel;
}

export function withSubtools(tool: AnyTool): AnyTool[] {
  const { subtools } = tool;
  return subtools.length === 0 ? [tool] : [tool, ...subtools.flatMap(withSubtools)];
}

/** A list of names, or a filter that holds one. */
function namesIn(allowed: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (typeof allowed !== "object" || allowed === null) return undefined;
  if (Array.isArray(allowed)) return allowed;
  return Array.isArray(allowed["tool_names"]) ? allowed["tool_names"] : undefined;
}
