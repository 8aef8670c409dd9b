// Plans a run: resolves its model, its conversation and its tools.

import type { JsonObject, Message } from "rondo";
import { estimateTokens, fitToWindow } from "rondo/budget";
import type { Models } from "../config/models.ts";
import { approvalId } from "../engine/approval-id.ts";
import { withApprovals } from "../engine/approvals.ts";
import { readableEntries } from "../engine/client-items.ts";
import { sealSummary } from "../engine/compaction.ts";
import { type Entry, toMessages } from "../engine/conversation.ts";
import { loadConversation } from "../engine/conversation-history.ts";
import { fitMessages } from "../engine/fit-messages.ts";
import { loadChain, resolveReferences } from "../engine/history.ts";
import { noPast, type Past, type Pasts, pastOf } from "../engine/past.ts";
import type { Plan, PlannedCompaction } from "../engine/plan.ts";
import type { Progress } from "../engine/resume.ts";
import { type Sealer, sealer } from "../engine/seal.ts";
import { sealCalls, withServerCalls } from "../engine/server-calls.ts";
import type { ThoughtForm } from "../engine/text-parts.ts";
import type { Announcement } from "../executor/executor.ts";
import type { Executors } from "../executor/executors.ts";
import { offeredChoice } from "../executor/named-tools.ts";
import type { Offer } from "../executor/offer.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import { addTools, toolsToOffer } from "../protocol/client-tools.ts";
import { echoedTools } from "../protocol/create-request.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";
import { checkForcedTool } from "../protocol/tool-choice.ts";
import { type ToolDefinition, toTools } from "../protocol/tools.ts";
import type { Store } from "../store/store.ts";
import type { PromptWatches } from "./prompt-watches.ts";

export interface PlannerOptions {
  readonly store: Store;
  readonly models: Models;
  readonly executors: Executors;
  readonly maxAgenticTurns: number;
  /** See `maxRepeats` of the loop. */
  readonly maxRepeats: number;
  /** Whether a run at its limit asks for a final answer. Default: if nothing runs here. */
  readonly asksForFinalAnswer?: boolean | undefined;
  /** What happens where a model server read only a part of the prompt. Default: `warn`. */
  readonly onPromptCut?: "warn" | "error";
  /** See `maxResultTokens` of the loop. Default: the loop's. */
  readonly maxResultTokens?: number | undefined;
  /** See `maxTools` of the loop. Default: the loop's. */
  readonly maxOfferedTools?: number | undefined;
  /** The last prompts of conversations. */
  readonly promptWatches: PromptWatches;
  /** What the newest runs followed. */
  readonly pasts: Pasts;
  /** How clients see thoughts. Default: `summary`. */
  readonly thoughts?: ThoughtForm | undefined;
  /** Secrets for sealed content: the first one seals, all of them open. */
  readonly secrets: readonly string[];
}

/** A response to plan. */
export interface RunRequest {
  readonly id: string;
  readonly owner: string;
  readonly createdAtMs: number;
  readonly request: RequestOptions;
  readonly input: readonly InputItem[];
  /** Whether it waits for other runs of its conversation. Default: false. */
  readonly waits?: boolean;
  /** Finds the history of a response outside of the store. Default: the store only. */
  readonly recall?: Recall | undefined;
  /** What an earlier start of the run left. Default: it has not begun. */
  readonly progress?: Pick<Progress, "names" | "kept"> | undefined;
  /** Whether the model is not asked now, so that the input may be empty. Default: false. */
  readonly isWarmUp?: boolean | undefined;
}

/** The history up to a response that is kept outside of the store, oldest first. */
export type Recall = (responseId: string) => readonly Entry[] | undefined;

export interface Planned {
  readonly plan: Plan;
  /** The input with references resolved, and with the server's calls that the client left out. */
  readonly input: readonly (InputItem | OutputItem)[];
  /** What of the request is ignored, for the log. */
  readonly ignored: readonly string[];
  /** The whole history, oldest first, as it came. */
  readonly history: readonly Entry[];
  /** The version of the conversation; undefined if other runs come first, or without a conversation. */
  readonly version: number | undefined;
}

/** Throws an `ApiError` for a request that cannot be run. */
export async function planRun(requested: RunRequest, options: PlannerOptions): Promise<Planned> {
  const { id, owner, createdAtMs } = requested;
  const { store, models, executors } = options;
  const { name, provider } = await models.resolve(requested.request.model);
  const { previous_response_id: previous, conversation } = requested.request;
  const talk = conversation === undefined ? undefined : await loadConversation(store, owner, conversation);
  const past = talk ? pastOf(talk.entries) : await pastUpTo(previous, requested, options);
  const { entries: before, messages: pastMessages } = past;
  const asked = pastMessages ? requested.request : withTools(requested.request, before);
  // Other runs of the conversation come first, so that its history is not known yet.
  const isEarly = requested.waits === true && talk?.isBusy === true;
  const seals = sealer(options.secrets, owner);
  const sent = await resolveReferences(store, owner, requested.input, executors);
  const own = await withServerCalls(before, sent, { store, owner, executors, unseal: seals.unseal });
  const history = [...before, ...own];
  const offer = await executors.offer({
    definitions: asked.tools,
    owner,
    responseId: id,
    names: requested.progress?.names,
    kept: requested.progress?.kept,
    history: past.items.concat(own.map(({ item }) => item as unknown as JsonObject)),
    include: asked.include,
  });
  const choice = offeredChoice(asked.tool_choice, offer);
  const request = choice === asked.tool_choice ? asked : { ...asked, tool_choice: choice };
  checkForcedTool(
    request,
    offer.tools.map((it) => it.wireName),
  );
  const ignored = [...offer.ignored];
  const { entries, approved, denied } = isEarly
    ? { entries: [], approved: [], denied: [] }
    : withApprovals(pastMessages ? [] : before, own, offer, { sealer: seals, executors });
  const messages = isEarly
    ? []
    : toMessages(readableEntries(entries, request.tools), {
        before: pastMessages,
        openCalls: new Set(approved.map((call) => call.id)),
        instructions: request.instructions,
        unseal: seals.unseal,
        onIgnored: (what) => ignored.push(what),
      });
  if (messages.length === 0 && !isEarly && !requested.isWarmUp)
    throw invalidRequest("input", "Expected something for the model to read, got nothing.");
  const cuts = request.truncation === "auto";
  if (cuts || request.text.format.type !== "text") await provider.learn?.({ window: cuts });
  const plan: Plan = {
    id,
    owner,
    createdAtMs,
    request,
    model: name,
    provider: cuts ? fitToWindow(provider) : provider,
    messages: fitMessages(
      messages,
      request,
      provider.profile,
      mayCall(request, offer),
      options.maxResultTokens,
    ),
    offer,
    executors,
    announcements: newAnnouncements(offer.announcements, history),
    approved,
    denied,
    compaction: plannedCompaction(requested, { messages, offer, approved }, seals),
    maxTurns: Math.min(request.max_agentic_turns ?? Number.POSITIVE_INFINITY, options.maxAgenticTurns),
    maxRepeats: options.maxRepeats,
    promptWatch: options.promptWatches.continue(
      previous ?? conversation,
      conversation ?? id,
      request.background,
    ),
    onPromptCut: options.onPromptCut ?? "warn",
    maxResultTokens: options.maxResultTokens,
    maxOfferedTools: options.maxOfferedTools,
    asksForFinalAnswer: options.asksForFinalAnswer ?? !offer.isAgentic,
    thoughts: options.thoughts,
    sealThought: request.include.includes("reasoning.encrypted_content")
      ? (thought) => seals.seal("reasoning", thought)
      : undefined,
    sealCalls:
      !request.store && request.include.includes("reasoning.encrypted_content")
        ? (items, isWithinAnswer) => sealCalls(items, isWithinAnswer, seals.seal)
        : undefined,
    approvalIdFor: (call, mark) => approvalId(call, seals, mark),
  };
  const version = isEarly ? undefined : talk?.version;
  return { plan, input: own.map(({ item }) => item), ignored, history, version };
}

/** What the request follows. Throws an `ApiError` if it is not there. */
async function pastUpTo(
  previous: string | undefined,
  { owner, recall }: RunRequest,
  { store, pasts }: PlannerOptions,
): Promise<Past> {
  if (previous === undefined) return noPast;
  const recalled = recall?.(previous);
  return recalled ? pastOf(recalled) : pasts.of(await loadChain(store, owner, previous));
}

/** Compaction as the client asked for it. Not while calls wait: a summary would drop them. */
function plannedCompaction(
  { input, request, isWarmUp }: RunRequest,
  { messages, offer, approved }: Pick<Plan, "messages" | "offer"> & { approved: readonly unknown[] },
  { seal, unseal }: Sealer,
): PlannedCompaction | undefined {
  const isAll = input.at(-1)?.type === "compaction_trigger";
  const { compact_threshold: threshold = Infinity } = request;
  if (isWarmUp || approved.length > 0 || messages.length === 0) return undefined;
  if (!isAll && (threshold === Infinity || promptTokens(messages, offer) < threshold)) return undefined;
  return {
    isAll,
    seal: (summary) => sealSummary(summary, seal, { isWhole: !isAll }),
    unseal: (sealed) => unseal("compaction", sealed),
  };
}

/** Estimates how many tokens the model reads. */
export function promptTokens(messages: readonly Message[], offer: Offer): number {
  const tools = offer.tools.map((it) => JSON.stringify(it.toOpenAI())).join("\n");
  const extra = tools === "" ? [] : [{ role: "system" as const, content: tools }];
  return estimateTokens([...messages, ...extra]);
}

/** Whether the model may call tools. */
function mayCall({ tool_choice: choice }: RequestOptions, { tools }: Offer): boolean {
  return tools.length > 0 && choice !== "none";
}

/** The items that the conversation does not have yet. */
function newAnnouncements(all: readonly Announcement[], history: readonly Entry[]): readonly Announcement[] {
  if (all.length === 0) return all;
  const items = history.map(({ item }) => item as unknown as JsonObject);
  return all.filter((announcement) => !announcement.isKnown(items));
}

/** The request with the tools of earlier items; its own win. */
function withTools(request: RequestOptions, before: readonly Entry[]): RequestOptions {
  const given: JsonObject[] = [];
  // One by one: a conversation may have thousands of items, and hardly any of them has tools.
  for (const { item } of before) for (const tool of toolsToOffer(item)) given.push(tool);
  if (given.length === 0) return request;
  const earlier = given.reduce<ToolDefinition[]>((all, tool) => addTools(all, toTools([tool])), []);
  // The response echoes those of the request alone.
  const echo = { ...request.echo, tools: echoedTools(request) };
  return { ...request, tools: addTools(earlier, request.tools), echo };
}
