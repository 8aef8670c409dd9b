// Accepts a request: checks it, plans its run, and says what the store keeps of it.

import { sealer } from "../engine/seal.ts";
import { invalidRequest } from "../protocol/api-error.ts";
import { type CreateRequest, type Limits, parseCreateRequest } from "../protocol/create-request.ts";
import { credentialsOf, itemWithoutCredentials } from "../protocol/credentials.ts";
import { newResponseId } from "../protocol/ids.ts";
import type { UrlRules } from "../protocol/input-urls.ts";
import type { InputItem } from "../protocol/items.ts";
import { type RequestTrace, toStoredRequest } from "../protocol/stored-request.ts";
import type { NewResponse } from "../store/store.ts";
import { sourceOf, titleOf } from "./list-runs.ts";
import { withNewId } from "./new-item.ts";
import { type Planned, planRun, type Recall } from "./planner.ts";
import { checkRepeatable, type RepeatKey } from "./repeat.ts";
import type { RunParts } from "./run-parts.ts";

/** A request that was accepted and has its id, but does not run yet. */
export interface PreparedRun {
  readonly id: string;
  readonly owner: string;
  readonly request: CreateRequest;
  readonly planned: Planned;
  /** The key under which a repeated request finds it. */
  readonly repeatKey: RepeatKey | undefined;
  /** The span that the request belongs to. */
  readonly caller?: RequestTrace | undefined;
}

export interface PrepareSettings {
  readonly limits: Limits;
  /** Which URLs the input may have. Default: those of public hosts. */
  readonly urls?: UrlRules;
  /** Whether unknown fields are errors. */
  readonly isStrict: boolean;
  /** What happens to a request whose conversation is busy: it waits, or is refused with 409. */
  readonly conversations: "queue" | "reject";
  /** How long a request's key is kept. Default: a day. */
  readonly idempotencyMs?: number;
}

export interface PrepareOptions {
  /** Whether it waits while others of its conversation run. Default: false. */
  readonly waits?: boolean;
  readonly recall?: Recall | undefined;
  readonly repeatKey?: RepeatKey | undefined;
  /** The span that the request belongs to. Default: none. */
  readonly caller?: RequestTrace | undefined;
  /** Whether the model is not asked. Default: false. */
  readonly isWarmUp?: boolean;
}

const dayMs = 86_400_000;

/** Throws an `ApiError` for a request that cannot be run. */
export async function prepareRun(
  owner: string,
  body: unknown,
  { waits = false, recall, repeatKey, caller, isWarmUp = false }: PrepareOptions,
  { limits, urls, isStrict, store, planner, observer, recentWarnings, now }: PrepareSettings & RunParts,
): Promise<PreparedRun> {
  const { request: given, warnings } = parseCreateRequest(
    store.keepsNothing ? withoutStore(body, recall) : body,
    {
      limits,
      isStrict,
      isKnownTool: (tool) => planner.executors.canExecute(tool),
      isKnownItem: (type) => planner.executors.hasItems(type),
      takesNoInput: isWarmUp,
      urls,
    },
  );
  if (repeatKey && store.keepsNothing) throw keepsNothing(null, "an Idempotency-Key");
  if (repeatKey) checkRepeatable(given.store);
  const request = isWarmUp || !given.store ? given : withRecalled(given, recall);
  const id = newResponseId();
  const planned = await planRun(
    { id, owner, createdAtMs: now(), request, input: request.input, waits, recall, isWarmUp },
    planner,
  );
  const ignored = recentWarnings.notYetGiven(owner, [...warnings, ...planned.ignored]);
  if (ignored.length > 0)
    observer.warn("Parts of a request were ignored.", { owner, responseId: id, ignored });
  return { id, owner, request, planned, repeatKey, caller };
}

/** What the store keeps of a new response, without its first events. */
export function toNewResponse(
  { id, owner, request, planned, repeatKey, caller }: PreparedRun,
  status: NewResponse["status"],
  { conversations, idempotencyMs = dayMs, planner }: PrepareSettings & RunParts,
): Omit<NewResponse, "events"> {
  const { conversation, tools } = request;
  // Another process may have to continue a background run, and then needs them.
  const credentials = request.background ? credentialsOf({ tools, input: planned.input }) : undefined;
  const source = sourceOf(request.metadata);
  return {
    id,
    owner,
    status,
    background: request.background,
    model: planned.plan.model,
    createdAtMs: planned.plan.createdAtMs,
    previousResponseId: request.previous_response_id ?? null,
    isClosed: request.tool_choice === "none",
    title: titleOf(planned.input),
    ...(source !== undefined && { source }),
    ...(conversation !== undefined && {
      conversation: {
        id: conversation,
        mustBeFree: status === "in_progress" || conversations === "reject",
        // A queued one is planned when it is claimed.
        ...(status === "in_progress" && planned.version !== undefined && { version: planned.version }),
      },
    }),
    ...(repeatKey && { idempotency: { ...repeatKey, keepMs: idempotencyMs } }),
    request: toStoredRequest(request, request.background ? caller : undefined),
    input: planned.input.map((item, position) =>
      withNewId(itemWithoutCredentials(item), { responseId: id, position }),
    ),
    credentials:
      credentials === undefined ? undefined : sealer(planner.secrets, owner).seal("credentials", credentials),
  };
}

/** A stored response that follows one outside of the store has all of its conversation as its input. */
function withRecalled(request: CreateRequest, recall: Recall | undefined): CreateRequest {
  const { previous_response_id: previous, input } = request;
  const before = previous === undefined ? undefined : recall?.(previous);
  if (!before) return request;
  const items = before.map(({ item }) => item as unknown as InputItem);
  return { ...request, previous_response_id: undefined, input: [...items, ...input] };
}

/** A request to a server that keeps nothing: `store` is false by default, and what needs a store is refused. */
function withoutStore(body: unknown, recall: Recall | undefined): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const { store, background, conversation, previous_response_id: previous } = body as Record<string, unknown>;
  if (store === true) throw keepsNothing("store", "store: true");
  if (background === true) throw keepsNothing("background", "background: true");
  if (conversation != null) throw keepsNothing("conversation", "conversation");
  // A connection remembers its newest responses itself; one that it has forgotten is not found.
  if (previous != null && !recall) throw keepsNothing("previous_response_id", "previous_response_id");
  return { ...body, store: store ?? false };
}

/** A 400 for what needs a store. */
export function keepsNothing(param: string | null, what: string) {
  return invalidRequest(
    param,
    `This server keeps nothing (store: none in its config), so ${what} cannot be used. Send the whole conversation as input, or set up a store.`,
    "store_disabled",
  );
}
