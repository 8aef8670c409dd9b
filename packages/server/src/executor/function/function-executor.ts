// Functions of the request: the client runs them, so that a call of one ends the response.

import { clientTool } from "../../protocol/client-tools.ts";
import { definedTool } from "../defined-tool.ts";
import type { OfferedTool, OfferRequest, ToolExecutor, ToolOffer } from "../executor.ts";
import { functionItems } from "./function-items.ts";
import { KnownFunctions } from "./known-functions.ts";

/** Enough for the tools of a few dozen agents, in some megabytes. */
const known = new KnownFunctions<OfferedTool>({ functions: 1000, chars: 500_000 });

export const functionExecutor: ToolExecutor = {
  kind: "function",
  canExecute: ({ type }) => type === "function",
  offer: ({ definitions }) => {
    const tools = definitions.map(offeredFunction);
    const first = tools[0]?.tool;
    const recent = first && recentOffers.get(first);
    if (recent && isSameList(recent.tools, tools)) return recent;
    const offer = { tools };
    if (first) keepOffer(first, offer);
    return offer;
  },
};

/** By their first functions, the oldest first: agents have the same ones in every request. */
const recentOffers = new Map<OfferedTool["tool"], ToolOffer>();
const maxRecentOffers = 32;

function keepOffer(first: OfferedTool["tool"], offer: ToolOffer): void {
  const [oldest] = recentOffers.keys();
  if (oldest && recentOffers.size >= maxRecentOffers && !recentOffers.has(first)) recentOffers.delete(oldest);
  recentOffers.set(first, offer);
}

function isSameList(recent: readonly OfferedTool[], tools: readonly OfferedTool[]): boolean {
  return (
    recent.length === tools.length &&
    recent.every(({ tool, index }, place) => tool === tools[place]?.tool && index === tools[place].index)
  );
}

function offeredFunction({ definition, index }: OfferRequest["definitions"][number]): OfferedTool {
  const offered = known.get(definition, () => {
    const tool = definedTool(definition, index, {}, async () => "");
    return {
      tool,
      index,
      runsHere: false,
      identity: { host: "client", label: "function", name: tool.wireName },
      items: functionItems(clientTool(definition) ?? { type: "function", name: tool.wireName }),
    };
  });
  return offered.index === index ? offered : { ...offered, index };
}
