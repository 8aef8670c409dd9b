// Makes a plan of a request: which model, which conversation, which tools.

import type { AnyTool } from "rondo";
import type { Models } from "../config/models.ts";
import { type Entry, toMessages } from "../engine/conversation.ts";
import { loadConversation } from "../engine/conversation-history.ts";
import { loadChain, resolveReferences } from "../engine/history.ts";
import type { Plan } from "../engine/plan.ts";
import { sealer } from "../engine/seal.ts";
import type { ToolExecutor } from "../executor/executor.ts";
import { offerTools } from "../executor/offer.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { RequestOptions } from "../protocol/stored-request.ts";
import { checkForcedTool } from "../protocol/tool-choice.ts";
import type { Store } from "../store/store.ts";

export interface PlannerOptions {
  readonly store: Store;
  readonly models: Models;
  readonly tools: readonly AnyTool[];
  readonly executors: readonly ToolExecutor[];
  readonly maxAgenticTurns: number;
  readonly asksForFinalAnswer: boolean;
  /** From which the key of sealed thoughts is made. */
  readonly secret: string;
}

/** A response that is to be planned. */
export interface Wanted {
  readonly id: string;
  readonly owner: string;
  readonly createdAtMs: number;
  readonly request: RequestOptions;
  readonly input: readonly InputItem[];
  /** Whether it waits while others of its conversation run. Default: it is its turn. */
  readonly waits?: boolean;
}

export interface Planned {
  readonly plan: Plan;
  /** The input with references replaced by what they refer to. */
  readonly input: readonly (InputItem | OutputItem)[];
  /** What of the request is left out, for the log. */
  readonly ignored: readonly string[];
  /** The version of the conversation that it was planned with; undefined if others run first, or without one. */
  readonly version: number | undefined;
}

/** Throws an `ApiError` for what does not fit together. */
export async function planRun(wanted: Wanted, options: PlannerOptions): Promise<Planned> {
  const { id, owner, createdAtMs, request } = wanted;
  const { store, models, tools, executors } = options;
  const { name, provider } = await models.resolve(request.model);
  const offer = offerTools({ requested: request.tools, local: tools, executors, responseId: id, owner });
  checkForcedTool(
    request,
    offer.tools.map((it) => it.wireName),
  );
  const { previous_response_id: previous, conversation } = request;
  const talk = conversation === undefined ? undefined : await loadConversation(store, owner, conversation);
  const before: readonly Entry[] =
    previous === undefined ? (talk?.entries ?? []) : await loadChain(store, owner, previous);
  // What those who run first will add is not known yet, so nothing can be said of what follows it.
  const isEarly = wanted.waits === true && talk?.isBusy === true;
  const own = await resolveReferences(store, owner, wanted.input);
  const ignored = offer.ignored.map((it) => `the tool '${it}'`);
  const { seal, unseal } = sealer(options.secret, owner);
  const messages = isEarly
    ? []
    : toMessages([...before, ...own], {
        instructions: request.instructions,
        unseal,
        onIgnored: (what) => ignored.push(what),
      });
  if (messages.length === 0 && !isEarly)
    throw invalidRequest("input", "Expected something for the model to read, got nothing.");
  const plan: Plan = {
    id,
    owner,
    createdAtMs,
    request,
    model: name,
    provider,
    messages,
    offer,
    maxTurns: Math.min(request.max_agentic_turns ?? Number.POSITIVE_INFINITY, options.maxAgenticTurns),
    asksForFinalAnswer: options.asksForFinalAnswer,
    seal: request.include.includes("reasoning.encrypted_content") ? seal : undefined,
  };
  const version = isEarly ? undefined : talk?.version;
  return { plan, input: own.map(({ item }) => item), ignored, version };
}
