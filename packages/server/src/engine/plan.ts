// Everything that a run needs before it starts: request, model, conversation, tools.

import type { Message, ModelProvider, ModelSettings } from "rondo";
import type { LoopOptions, PromptWatch } from "rondo/loop";
import type { Announcement } from "../executor/executor.ts";
import type { Executors } from "../executor/executors.ts";
import type { Offer } from "../executor/offer.ts";
import { isClientSearch, isServerSearch } from "../executor/tool-search/tool-search-executor.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";
import type { ApprovalRequest } from "./approval-id.ts";
import type { DeniedCall } from "./approvals.ts";
import type { OutputOptions } from "./output.ts";
import type { ThoughtForm } from "./text-parts.ts";

export interface PlannedCompaction {
  /** Whether the client asked for nothing else. */
  readonly isAll: boolean;
  readonly seal: (summary: string) => string;
  readonly unseal: (sealed: string) => string | undefined;
}

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
  readonly executors: Pick<Executors, "itemsOf">;
  /** Items that are shown before the model is asked. Default: none. */
  readonly announcements?: readonly Announcement[] | undefined;
  /** Calls of the last answer that a person allowed: they run first. Default: none. */
  readonly approved?: readonly ApprovalRequest[] | undefined;
  /** Calls of the last answer that a person did not allow, for the audit log. Default: none. */
  readonly denied?: readonly DeniedCall[] | undefined;
  /** How many times the model is asked at most. */
  readonly maxTurns: number;
  /** See `maxRepeats` of the loop. */
  readonly maxRepeats: number;
  readonly asksForFinalAnswer: boolean;
  /** See `promptWatch` of the loop. Default: nothing is known of earlier prompts. */
  readonly promptWatch?: PromptWatch | undefined;
  /** See `maxResultTokens` of the loop. Default: the loop's. */
  readonly maxResultTokens?: number | undefined;
  /** See `maxTools` of the loop. Default: the loop's. */
  readonly maxOfferedTools?: number | undefined;
  /** See `onPromptCut` of the loop. Default: `warn`. */
  readonly onPromptCut?: "warn" | "error";
  /** Compacts the conversation first, or in place of an answer. Default: not at all. */
  readonly compaction?: PlannedCompaction | undefined;
  /** How clients see thoughts. Default: `summary`. */
  readonly thoughts?: ThoughtForm | undefined;
  /** Encrypts thinking. Default: the client did not request it. */
  readonly sealThought?: ((thought: string) => string) | undefined;
  /** Seals calls of the server into a thought. Default: the store has them, or the client did not request it. */
  readonly sealCalls?: OutputOptions["sealCalls"];
  /** Makes the id of an approval request. Default: nobody is asked. */
  readonly approvalIdFor?: ((call: Omit<ApprovalRequest, "id">, mark?: string) => string) | undefined;
}

/** The options of the loop that follow from the plan alone. */
export function loopOptions(plan: Plan): LoopOptions {
  const { request, provider, offer, asksForFinalAnswer, approved = [] } = plan;
  const { tool_choice: choice, max_tool_calls: maxToolCalls } = request;
  return {
    model: provider,
    tools: offer.tools,
    settings: modelSettings(request, offer.tools.length > 0),
    ...outputFormat(request),
    // Some servers reject a choice without tools.
    ...(offer.tools.length > 0 && choice !== "auto" && { toolChoice: choice }),
    // Calls that a person allowed come before the first answer, and need a round of their own.
    maxToolIterations: plan.maxTurns - (approved.length > 0 ? 0 : 1),
    ...(maxToolCalls !== undefined && { maxToolCalls }),
    parallelToolCalls: request.parallel_tool_calls,
    asksForFinalAnswer,
    maxRepeats: plan.maxRepeats,
    ...(plan.promptWatch && { promptWatch: plan.promptWatch }),
    ...(plan.maxResultTokens !== undefined && { maxResultTokens: plan.maxResultTokens }),
    ...(plan.maxOfferedTools !== undefined && { maxTools: plan.maxOfferedTools }),
    ...deferral(plan),
    ...(plan.onPromptCut && { onPromptCut: plan.onPromptCut }),
  };
}

/** Which tools the model has to find: those with `defer_loading`, where the request has a search. */
function deferral({ request: { tools }, offer }: Plan): Pick<LoopOptions, "isDeferred" | "hasToolSearch"> {
  const hasToolSearch = tools.some(isClientSearch);
  if (!hasToolSearch && !tools.some(isServerSearch)) return {};
  const marked = tools.filter((definition) => definition["defer_loading"] === true);
  const labels = new Set(marked.map(({ server_label: label }) => label));
  return {
    hasToolSearch,
    isDeferred: ({ name }) => {
      const { index, identity } = offer.find(name) ?? {};
      const definition = index === undefined ? undefined : tools[index];
      return definition ? marked.includes(definition) : labels.has(identity?.label);
    },
  };
}

function modelSettings(request: RequestOptions, hasTools: boolean): ModelSettings {
  const { temperature, top_p, max_output_tokens, presence_penalty, frequency_penalty, reasoning } = request;
  const extraBody = {
    ...(presence_penalty !== undefined && { presence_penalty }),
    ...(frequency_penalty !== undefined && { frequency_penalty }),
    ...(reasoning.effort !== null && { reasoning_effort: reasoning.effort }),
    ...(hasTools && !request.parallel_tool_calls && { parallel_tool_calls: false }),
  };
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(max_output_tokens !== undefined && { maxTokens: max_output_tokens }),
    ...(Object.keys(extraBody).length > 0 && { extraBody }),
  };
}

function outputFormat({ text: { format } }: RequestOptions): Pick<LoopOptions, "output"> {
  if (format.type === "text") return {};
  return {
    output: format.type === "json_schema" ? { name: format.name, schema: format.schema } : { name: "answer" },
  };
}
