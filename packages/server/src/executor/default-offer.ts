// The offer of an executor without one of its own: each definition that it gets becomes a tool that calls it.

import type { ToolContext } from "rondo";
import { checkUpdate, toJson } from "./call-update.ts";
import { definedTool } from "./defined-tool.ts";
import type {
  CallUpdate,
  ExecuteContext,
  OfferedTool,
  OfferRequest,
  ToolExecutor,
  ToolOffer,
  ToolResult,
} from "./executor.ts";
import { mcpItems } from "./mcp/mcp-items.ts";
import { approvalTest } from "./mcp/tool-filter.ts";

export function defaultOffer(executor: ToolExecutor, request: OfferRequest): ToolOffer {
  return { tools: request.definitions.map((place) => offeredTool(executor, request, place)) };
}

function offeredTool(
  executor: ToolExecutor,
  { responseId, owner, kept }: OfferRequest,
  { definition, index }: OfferRequest["definitions"][number],
): OfferedTool {
  const contextOf = ({ signal, idempotencyKey }: ToolContext): ExecuteContext => {
    const own = kept?.get(idempotencyKey);
    return { signal, responseId, owner, idempotencyKey, ...(own !== undefined && { kept: own }) };
  };
  const callOf = (input: object, { callId }: ToolContext) => ({
    id: callId ?? "",
    name: tool.wireName,
    arguments: JSON.stringify(input),
  });
  const { kind, items = mcpItems, canResume } = executor;
  const tool = definedTool(
    definition,
    index,
    executor,
    executor.stream
      ? async function* (input, context) {
          const updates = executor.stream?.(callOf(input, context), contextOf(context));
          return updates && toMcpResult(yield* checked(updates));
        }
      : async (input, context) => {
          if (!executor.execute) throw new Error(`The executor '${kind}' has neither execute nor stream.`);
          return toMcpResult(await executor.execute(callOf(input, context), contextOf(context)));
        },
  );
  // A server that the config has an executor for keeps its label.
  const label = typeof definition["server_label"] === "string" ? definition["server_label"] : kind;
  // The config trusts its executors, so that nobody is asked unless the request says so.
  const isAsked = definition.type === "mcp" ? approvalTest(definition["require_approval"]) : undefined;
  return {
    tool,
    index,
    type: definition.type,
    runsHere: true,
    identity: { host: `executor:${kind}`, label, name: tool.wireName },
    items,
    needsApproval: isAsked?.({ name: tool.wireName, inputSchema: {} }) ?? false,
    canRunAgain: canResume === true || executor.isIdempotent === true,
  };
}

/** The same updates, as long as the stream and the store can take them: else the call fails, and says why. */
async function* checked(updates: AsyncGenerator<CallUpdate, ToolResult, void>) {
  try {
    while (true) {
      const { done, value } = await updates.next();
      if (done) return value;
      yield checkUpdate(value);
    }
  } finally {
    await updates.return(undefined as never);
  }
}

/** In the shape of MCP's results, which say themselves whether they are errors. `item` is for the call's item. */
function toMcpResult(result: ToolResult) {
  const { output, isError = false, item } = toJson(result, "the result of an executor");
  if (typeof output !== "string")
    throw new Error(`The output of an executor must be a string, got ${JSON.stringify(output)}.`);
  return { content: [{ type: "text", text: output }], isError, ...(item && { item }) };
}
