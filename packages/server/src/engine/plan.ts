// A run before it starts: the request, the model, the conversation and the tools.

import type { AnyTool, LoopOptions, Message, ModelProfile, ModelProvider, ModelSettings } from "rondo";
import type { Offer } from "../executor/offer.ts";
import { isOfServer } from "../executor/tool-identity.ts";
import type { McpListToolsItem } from "../protocol/items.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";
import type { NamedTool } from "../protocol/tool-choice.ts";
import type { ApprovalRequest } from "./approval-id.ts";

export interface Plan {
  readonly id: string;
  readonly owner: string;
  readonly createdAtMs: number;
  readonly request: RequestOptions;
  /** The model's name, as the client knows it. */
  readonly model: string;
  readonly provider: ModelProvider;
  readonly messages: readonly Message[];
  readonly offer: Offer;
  /** What is shown before the model is asked: the tools of MCP servers. Default: nothing. */
  readonly lists?: readonly Omit<McpListToolsItem, "id">[] | undefined;
  /** Calls of the last answer that a person has allowed: they run first. Default: none. */
  readonly approved?: readonly ApprovalRequest[] | undefined;
  /** Keeps what the tools need until what this gives is called. Default: nothing has to be kept. */
  readonly hold?: (() => () => void) | undefined;
  /** How many times the model is asked at most. */
  readonly maxTurns: number;
  /** How often a call may repeat itself. */
  readonly maxRepeats: number;
  readonly asksForFinalAnswer: boolean;
  /** Makes of a thought what only this server can read; set if the client asks for it. */
  readonly sealThought?: ((thought: string) => string) | undefined;
  /** The id by which a person is asked to allow a call. Default: nobody is asked. */
  readonly approvalIdFor?: ((call: Omit<ApprovalRequest, "id">) => string) | undefined;
}

/** What the loop is told about the model and the tools. */
export function loopOptions(plan: Plan): LoopOptions {
  const { request, provider, offer, asksForFinalAnswer } = plan;
  const { tool_choice: choice, allowed_tools: allowed } = request;
  return {
    model: provider,
    tools: offer.tools,
    settings: modelSettings(request, offer.tools.length > 0, provider.profile),
    ...outputFormat(request),
    // A choice is only sent where there is something to choose.
    ...(offer.tools.length > 0 && choice !== "auto" && { toolChoice: choice }),
    ...(allowed && {
      offersAll: true,
      isAllowed: (it) => allowed.some((named) => isMeant(named, it, offer)),
    }),
    runsHere: runsHere(plan),
    correctsCalls: choice !== "none",
    parallelToolCalls: request.parallel_tool_calls,
    asksForFinalAnswer,
    maxRepeats: plan.maxRepeats,
  };
}

function isMeant(named: NamedTool, { name, wireName }: AnyTool, offer: Offer): boolean {
  const { identity } = offer.find(name) ?? {};
  if (typeof named === "object")
    return named.name === undefined
      ? identity?.label === named.server_label
      : offer.findOn(named.server_label, named.name)?.tool.wireName === wireName;
  const exact = offer.find(named);
  // The name of a function means it alone: no server that is called so, and no tool of one.
  if (exact && !isOfServer(exact.identity)) return exact.tool.wireName === wireName;
  return [name, wireName, identity?.name, ...(exact ? [] : [identity?.label])].includes(named);
}

/** What runs here: all that nobody else has to run or to allow. */
function runsHere({ request, offer }: Plan): (tool: AnyTool) => boolean {
  if (request.tool_choice === "none") return () => false;
  return (it) => offer.runsHere(it) && !offer.find(it.name)?.needsApproval;
}

function modelSettings(
  request: RequestOptions,
  hasTools: boolean,
  { outputMode }: ModelProfile,
): ModelSettings {
  const { temperature, top_p, max_output_tokens, presence_penalty, frequency_penalty, reasoning } = request;
  const extraBody = {
    ...(presence_penalty !== undefined && { presence_penalty }),
    ...(frequency_penalty !== undefined && { frequency_penalty }),
    ...(reasoning.effort !== null && { reasoning_effort: reasoning.effort }),
    ...(hasTools && !request.parallel_tool_calls && { parallel_tool_calls: false }),
    ...(request.text.format.type === "json_object" &&
      outputMode === "native" && { response_format: { type: "json_object" } }),
  };
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(max_output_tokens !== undefined && { maxTokens: max_output_tokens }),
    ...(Object.keys(extraBody).length > 0 && { extraBody }),
  };
}

function outputFormat({ text: { format } }: RequestOptions): Pick<LoopOptions, "output"> {
  if (format.type !== "json_schema") return {};
  return { output: { name: format.name, schema: format.schema } };
}
