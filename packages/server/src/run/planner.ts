// Makes a plan of a request: which model, which conversation, which tools.

import type { AnyTool } from "rondo";
import type { Models } from "../config/models.ts";
import { type Entry, toMessages } from "../engine/conversation.ts";
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
}

export interface Planned {
  readonly plan: Plan;
  /** The input with references replaced by what they refer to. */
  readonly input: readonly (InputItem | OutputItem)[];
  /** What of the request is left out, for the log. */
  readonly ignored: readonly string[];
}

/** Throws an `ApiError` for what does not fit together. */
export async function planRun(wanted: Wanted, options: PlannerOptions): Promise<Planned> {
  const { id, owner, createdAtMs, request } = wanted;
  const { store, models, tools, executors } = options;
  if (request.conversation !== undefined)
    throw invalidRequest("conversation", "This server has no conversations. Use previous_response_id.");
  const { name, provider } = await models.resolve(request.model);
  const offer = offerTools({ requested: request.tools, local: tools, executors, responseId: id, owner });
  checkForcedTool(
    request,
    offer.tools.map((it) => it.wireName),
  );
  const previous = request.previous_response_id;
  const before: Entry[] = previous === undefined ? [] : await loadChain(store, owner, previous);
  const own = await resolveReferences(store, owner, wanted.input);
  const ignored = offer.ignored.map((it) => `the tool '${it}'`);
  const { seal, unseal } = sealer(options.secret, owner);
  const messages = toMessages([...before, ...own], {
    instructions: request.instructions,
    unseal,
    onIgnored: (what) => ignored.push(what),
  });
  if (messages.length === 0)
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
  return { plan, input: own.map(({ item }) => item), ignored };
}
