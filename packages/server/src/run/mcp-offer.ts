// What MCP servers add to a plan: their tools, what is shown of them, and choices that name them.

import { isDeepStrictEqual } from "node:util";
import type { Entry } from "../engine/conversation.ts";
import type { ToolExecutor } from "../executor/executor.ts";
import { isMcp, type McpOffer, type McpTools } from "../executor/mcp/mcp-tools.ts";
import type { Offer } from "../executor/offer.ts";
import type { McpListToolsItem } from "../protocol/items.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";
import type { ToolChoice } from "../protocol/tool-choice.ts";
import type { ToolDefinition } from "../protocol/tools.ts";

export interface OfferedServers {
  readonly mcp: McpOffer | undefined;
  /** Whether a tool of the request stands for one of them. */
  readonly isServer: (definition: ToolDefinition) => boolean;
}

/** The servers of the config and of the request, but for those that an executor of the config is for. */
export async function offerServers(
  { tools }: RequestOptions,
  owner: string,
  { mcp, executors }: { mcp?: McpTools | undefined; executors: readonly ToolExecutor[] },
): Promise<OfferedServers> {
  const isServer = (definition: ToolDefinition) =>
    mcp !== undefined && isMcp(definition) && !executors.some((it) => it.canExecute(definition));
  return { mcp: await mcp?.offer(tools, owner, isServer), isServer };
}

/** The lists that the conversation does not have yet. */
export function newLists<T extends Omit<McpListToolsItem, "id">>(
  lists: readonly T[],
  history: readonly Entry[],
): readonly T[] {
  if (lists.length === 0) return lists;
  const latest = new Map(
    history.flatMap(({ item }) => (item.type === "mcp_list_tools" ? [[item["server_label"], item]] : [])),
  );
  return lists.filter((list) => {
    const known = latest.get(list.server_label) as { tools?: unknown; error?: unknown } | undefined;
    return (
      !known ||
      list.error !== null ||
      (known.error ?? null) !== null ||
      !isDeepStrictEqual(known.tools, list.tools)
    );
  });
}

/** A choice under the names that the model has: of a tool by its name on its server, or of any tool of a server. */
export function offeredChoice(choice: ToolChoice, offer: Offer): ToolChoice {
  if (typeof choice !== "object") return choice;
  const { name, server_label: server } = choice;
  if (server !== undefined)
    return { name: offer.findOn(server, name)?.tool.wireName ?? `${server}: ${name}` };
  if (offer.find(name)) return choice;
  const labels = new Set(offer.tools.map((it) => offer.find(it.name)?.identity.label));
  const there = [...labels].flatMap((label) => offer.findOn(label ?? "", name) ?? [])[0];
  if (there) return { name: there.tool.wireName };
  return labels.has(name) ? "required" : choice;
}
