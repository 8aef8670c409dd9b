// The calls of the database's functions, and what their answers mean. The database says what it found, and the rules
// say what is wrong with it.

import { canMove, isTerminal, type ResponseStatus, responseStatuses } from "../../protocol/status.ts";
import { addsToConversation } from "../conversation-store.ts";
import type { EncodedItem, EncodedNew, EncodedWrite } from "../encode.ts";
import {
  checkKey,
  checkNew,
  checkNewItems,
  checkPlace,
  checkWrite,
  type KnownItem,
  lostLease,
} from "../rules.ts";
import type { Lease } from "../run-queue.ts";
import { StoreError } from "../store-error.ts";
import type { Call } from "./group-writer.ts";
import { fromDbText, toDbText } from "./text.ts";

/** The holder of a new lease. */
export interface Holder {
  readonly worker: string;
  /** The key of the node, if it is watched. */
  readonly node: number | undefined;
  readonly leaseMs: number;
}

/** `job`: adds it to the queue of jobs. */
export function createCall(
  response: EncodedNew,
  { worker, node, leaseMs }: Holder,
  { job, priority }: { job: string | undefined; priority: number },
): Call {
  const { conversation, idempotency, credentials } = response;
  return {
    call: "create",
    ...(job !== undefined && { job }),
    priority,
    response: {
      id: toDbText(response.id),
      owner: toDbText(response.owner),
      status: response.status,
      background: response.background,
      model: toDbText(response.model),
      createdAtMs: response.createdAtMs,
      previousResponseId: response.previousResponseId === null ? null : toDbText(response.previousResponseId),
      isClosed: response.isClosed,
      title: response.title ?? null,
      source: response.source === undefined ? null : toDbText(response.source),
    },
    request: response.request,
    input: toDbItems(response.input),
    events: response.events.map(({ data }) => data),
    ...(credentials !== undefined && { credentials }),
    ...(conversation && { place: { ...conversation, id: toDbText(conversation.id) } }),
    ...(idempotency && {
      key: { ...idempotency, key: toDbText(idempotency.key), fingerprint: toDbText(idempotency.fingerprint) },
    }),
    worker,
    node: node ?? null,
    leaseMs,
    isInvalid: throws(() => checkNew(response, false, [])),
  };
}

interface CreateAnswer {
  readonly fence?: number;
  readonly refused?: {
    readonly isTaken: boolean;
    readonly taken: readonly string[] | null;
    readonly isKeyTaken: boolean;
    readonly place: { readonly version: number; readonly isBusy: boolean } | null;
  };
}

/** The fence of a new response. Throws a `StoreError` if it was refused. */
export function createdFence(response: EncodedNew, { fence, refused }: CreateAnswer): number {
  if (refused === undefined) return fence ?? 0;
  checkNew(response, refused.isTaken, (refused.taken ?? []).map(fromDbText));
  checkKey(response, refused.isKeyTaken);
  checkPlace(response, refused.place ?? undefined);
  throw disagreement(refused);
}

/** `job`: takes it from the queue of jobs, if it is one. */
export function commitCall({ responseId, fence }: Lease, write: EncodedWrite, job: string | undefined): Call {
  const status = write.update?.status;
  return {
    call: "commit",
    ...(job !== undefined && { job }),
    id: toDbText(responseId),
    fence,
    from: statusesBefore(status),
    first: write.events[0]?.sequence ?? 0,
    events: write.events.map(({ data }) => data),
    output: write.output.map((item) => ({ ...item, id: toDbText(item.id) })),
    steps: write.steps,
    ...(write.update && { update: write.update }),
    ...(write.trace && { trace: write.trace }),
    isOver: status !== undefined && isTerminal(status),
    addsToConversation: status !== undefined && addsToConversation(status),
    isInvalid: isFlawed(write),
  };
}

interface CommitAnswer {
  readonly isLost?: boolean;
  readonly refused?: {
    readonly status: ResponseStatus;
    readonly lastSequence: number;
    readonly items: readonly { id: string; index: number | null; isFrozen: boolean }[];
  };
}

/** Throws a `StoreError` if a commit was refused. */
export function checkCommitted(lease: Lease, write: EncodedWrite, { isLost, refused }: CommitAnswer): void {
  if (isLost) throw lostLease(lease);
  if (!refused) return;
  const items = refused.items.map(
    ({ id, index, isFrozen }): KnownItem => ({ id: fromDbText(id), index: index ?? undefined, isFrozen }),
  );
  checkWrite({ id: lease.responseId, ...refused, items }, write);
  throw disagreement(refused);
}

/** Throws a `StoreError` if items may not be added. */
export function checkAdded(items: readonly EncodedItem[], { taken }: { taken?: readonly string[] }): void {
  if (taken === undefined) return;
  checkNewItems(items, taken.map(fromDbText));
  throw disagreement(taken);
}

export function hasDuplicates(items: readonly EncodedItem[]): boolean {
  return throws(() => checkNewItems(items, []));
}

export function toDbItems(items: readonly EncodedItem[]): EncodedItem[] {
  return items.map(({ id, data }) => ({ id: toDbText(id), data }));
}

/** The states in which a response may be written to, and become `status`. */
function statusesBefore(status: ResponseStatus | undefined): ResponseStatus[] {
  return responseStatuses.filter(
    (from) => !isTerminal(from) && (status === undefined || canMove(from, status)),
  );
}

/** Whether a write contradicts itself, whatever it is added to. */
function isFlawed(write: EncodedWrite): boolean {
  const first = write.events[0]?.sequence ?? 0;
  const state = { id: "", status: "in_progress" as const, lastSequence: first - 1, items: [] };
  return throws(() => checkWrite(state, { ...write, update: undefined }));
}

function throws(run: () => void): boolean {
  try {
    run();
    return false;
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}

function disagreement(found: unknown): Error {
  return new Error(`The database has refused what the rules allow: ${JSON.stringify(found).slice(0, 500)}`);
}
