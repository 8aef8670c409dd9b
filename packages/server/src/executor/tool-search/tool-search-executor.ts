// `tool_search`: the model finds tools that are not loaded. The server searches by itself, in the loop; a search of the
// client's is a function that the client runs.

import type { JsonObject, JsonSchema } from "rondo";
import { foundTools, toolSearchName } from "rondo/loop";
import type { ExtensionItem } from "../../protocol/items.ts";
import { type ToolDefinition, toTools } from "../../protocol/tools.ts";
import { definedTool } from "../defined-tool.ts";
import type { CallItems, OfferedTool, ToolExecutor } from "../executor.ts";

const type = "tool_search_call";

const toolSearchItems: CallItems = {
  type,
  idPrefix: "tsc",
  item: ({ id, callId, arguments: text }, outcome) => ({
    type,
    id,
    call_id: callId ?? id,
    execution: callId === undefined ? "server" : "client",
    arguments: JSON.parse(text) as JsonObject,
    status: outcome ? "completed" : "in_progress",
  }),
  begun: () => [],
  ended: () => [],
  // The conversation pairs them with their outputs itself.
  read: () => undefined,
};

const byWords: JsonSchema = {
  type: "object",
  properties: { query: { type: "string", description: "What the tool should do, or its name." } },
  required: ["query"],
};

export const toolSearchExecutor: ToolExecutor = {
  kind: "tool_search",
  canExecute: ({ type: kind }) => kind === toolSearchName,
  items: toolSearchItems,
  offer: ({ definitions }) => ({
    tools: definitions
      .filter(({ definition }) => isClientSearch(definition))
      .map(({ definition, index }): OfferedTool => {
        const { description, parameters } = definition;
        const describe = () => ({
          name: toolSearchName,
          description: typeof description === "string" ? description : "Finds tools by what they do.",
          parameters: (typeof parameters === "object" && parameters !== null
            ? parameters
            : byWords) as JsonSchema,
        });
        return {
          tool: definedTool(definition, index, { describe }, async () => ""),
          index,
          type: toolSearchName,
          runsHere: false,
          identity: { host: "client", label: toolSearchName, name: toolSearchName },
          items: toolSearchItems,
        };
      }),
  }),
};

/** Whether the client searches. */
export function isClientSearch({ type: kind, execution }: ToolDefinition): boolean {
  return kind === toolSearchName && execution === "client";
}

/** Whether the server searches, and the client knows items of such searches. */
export function isServerSearch({ type: kind, execution }: ToolDefinition): boolean {
  return kind === toolSearchName && execution !== "client";
}

/** The tools that a search of the server found, as their item. */
export function searchOutput(callItemId: string, result: unknown): Omit<ExtensionItem, "id"> {
  const { tools } = Object(result) as { tools?: unknown };
  return {
    type: "tool_search_output",
    call_id: callItemId,
    execution: "server",
    status: "completed",
    tools: (Array.isArray(tools) ? (tools as JsonObject[]) : []).map((found) => ({
      type: "function",
      ...found,
      strict: null,
      defer_loading: true,
    })),
  };
}

/** What the model reads of a search, from the item of its output; undefined for another item. */
export function textOfSearch({ type: kind, tools }: JsonObject): string | undefined {
  if (kind !== "tool_search_output" || !Array.isArray(tools)) return undefined;
  const functions = toTools(tools as JsonObject[]).flatMap(({ name, description, parameters }) =>
    name === undefined
      ? []
      : [
          {
            name,
            description: typeof description === "string" ? description : "",
            parameters: (parameters ?? {}) as JsonSchema,
          },
        ],
  );
  return JSON.stringify(foundTools(functions));
}
