// Functions of the request: the client runs them, so that a call of one ends the response.

import { clientTool } from "../../protocol/client-tools.ts";
import { definedTool } from "../defined-tool.ts";
import type { OfferedTool, ToolExecutor } from "../executor.ts";
import { functionItems } from "./function-items.ts";

export const functionExecutor: ToolExecutor = {
  kind: "function",
  canExecute: ({ type }) => type === "function",
  offer: ({ definitions }) => ({
    tools: definitions.map(({ definition, index }): OfferedTool => {
      const tool = definedTool(definition, index, {}, async () => "");
      return {
        tool,
        index,
        runsHere: false,
        identity: { host: "client", label: "function", name: tool.wireName },
        items: functionItems(clientTool(definition) ?? { type: "function", name: tool.wireName }),
      };
    }),
  }),
};
