// `mcp_list_tools` items: the tools of a server that a request names, or why there are none.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "rondo";
import type { McpToolDefinition } from "rondo/mcp";
import type { McpListedTool, McpListToolsItem } from "../../protocol/items.ts";
import type { Announcement } from "../executor.ts";

export function toolList(
  label: string,
  { tools: definitions = [], error = null }: { tools?: readonly McpToolDefinition[]; error?: string | null },
): Announcement {
  const tools = definitions.map(listedTool);
  const added: McpListToolsItem = {
    type: "mcp_list_tools",
    id: "",
    server_label: label,
    tools: [],
    error: null,
  };
  return {
    idPrefix: "mcpl",
    added,
    events: [
      { type: "response.mcp_list_tools.in_progress" },
      { type: `response.mcp_list_tools.${error === null ? "completed" : "failed"}` },
    ],
    done: { ...added, tools, error },
    isKnown: (history) => {
      const known = history.findLast(
        ({ type, server_label }) => type === "mcp_list_tools" && server_label === label,
      );
      if (!known || error !== null || (known["error"] ?? null) !== null) return false;
      return isDeepStrictEqual(known["tools"], tools);
    },
  };
}

function listedTool({ name, description, inputSchema, annotations }: McpToolDefinition): McpListedTool {
  return {
    name,
    description: description ?? null,
    input_schema: inputSchema as JsonObject,
    annotations: (annotations as JsonObject | undefined) ?? null,
  };
}
