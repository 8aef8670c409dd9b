// Functions of the request: the client runs them, so that a call of one ends the response.

import { clientTool } from "../../protocol/client-tools.ts";
import { definedTool } from "../defined-tool.ts";
import type { OfferedTool, OfferRequest, ToolExecutor } from "../executor.ts";
import { functionItems } from "./function-items.ts";
import { KnownFunctions } from "./known-functions.ts";

/** Enough for the tools of a few dozen agents, in some megabytes. */
const known = new KnownFunctions({ functions: 1000, chars: 500_000 });

export const functionExecutor: ToolExecutor = {
  kind: "function",
  canExecute: ({ type }) => type === "function",
  offer: ({ definitions }) => ({ tools: definitions.map(offeredFunction) }),
};

function offeredFunction({ definition, index }: OfferRequest["definitions"][number]): OfferedTool {
  const { tool, items } = known.get(definition, () => {
    const made = definedTool(definition, index, {}, async () => "");
    return {
      tool: made,
      items: functionItems(clientTool(definition) ?? { type: "function", name: made.wireName }),
    };
  });
  return {
    tool,
    index,
    runsHere: false,
    identity: { host: "client", label: "function", name: tool.wireName },
    items,
  };
}
