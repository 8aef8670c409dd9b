// What the memory store holds for one response, and how it is given out: always as a copy.

import type { InputItem } from "../protocol/items.ts";
import type { EncodedItem, EncodedNew } from "./encode.ts";
import type { KeptConversation, KeptEntry } from "./memory-conversations.ts";
import type { KnownItem } from "./rules.ts";
import { afterCrash, goodStanding, type Standing } from "./standing.ts";
import type { ChainLink, KeyClaim, StoredEvent, StoredOutput, StoredResponse, StoredRun } from "./store.ts";

/** A stored response. All that a caller could change by accident is kept as JSON. */
export interface Kept {
  /** Grows with each response: a response can only follow one that was there before it. */
  readonly serial: number;
  readonly owner: Owner;
  head: Omit<StoredResponse, "request" | "error" | "usage">;
  readonly request: string;
  error: string | null;
  usage: string | null;
  credentials: string | undefined;
  endedAtMs: number | undefined;
  readonly input: readonly EncodedItem[];
  readonly output: Map<number, KeptOutput>;
  readonly conversation: EncodedNew["conversation"];
  readonly isClosed: boolean;
  readonly key: string | undefined;
  readonly events: StoredEvent[];
  readonly steps: string[];
  worker: string | undefined;
  leaseUntilMs: number;
  fence: number;
  standing: Standing;
}

export interface KeptOutput extends KnownItem, EncodedItem {
  readonly index: number;
  readonly turn: number;
}

export interface Owner {
  readonly responses: Map<string, Kept>;
  readonly items: Map<string, EncodedItem | KeptOutput>;
  readonly conversations: Map<string, KeptConversation>;
  readonly conversationItems: Map<string, KeptEntry>;
  readonly keys: Map<string, KeptKey>;
}

export interface KeptKey extends KeyClaim {
  readonly responseId: string;
}

export function newOwner(): Owner {
  return {
    responses: new Map(),
    items: new Map(),
    conversations: new Map(),
    conversationItems: new Map(),
    keys: new Map(),
  };
}

export function newKept(response: EncodedNew, owner: Owner, serial: number): Kept {
  const { request, input, events, conversation, isClosed, credentials, idempotency, ...head } = response;
  return {
    serial,
    owner,
    head: { ...head, completedAtMs: null, incompleteReason: null, isCancelRequested: false },
    request,
    error: null,
    usage: null,
    credentials,
    endedAtMs: undefined,
    input,
    output: new Map(),
    conversation,
    isClosed,
    key: idempotency?.key,
    events: [...events],
    steps: [],
    worker: undefined,
    leaseUntilMs: 0,
    fence: 0,
    standing: goodStanding,
  };
}

export function toResponse({ head, request, error, usage }: Kept): StoredResponse {
  return {
    ...head,
    request: JSON.parse(request),
    error: error === null ? null : JSON.parse(error),
    usage: usage === null ? null : JSON.parse(usage),
  };
}

export function toOutput({ output }: Kept): StoredOutput[] {
  return [...output.values()]
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, turn, data }) => ({ index, turn, item: JSON.parse(data) }));
}

export function toLink(kept: Kept): ChainLink {
  const { id, status } = kept.head;
  return { id, status, isClosed: kept.isClosed, input: toInput(kept), output: toOutput(kept) };
}

export function toRun(kept: Kept): StoredRun {
  return {
    input: toInput(kept),
    output: toOutput(kept),
    steps: kept.steps.map((step) => JSON.parse(step)),
    lastSequence: kept.events.length - 1,
    credentials: kept.credentials,
  };
}

function toInput({ input }: Kept): InputItem[] {
  return input.map((item) => JSON.parse(item.data));
}

/** Oldest first, and in one order only, also for those of the same millisecond. */
export function byAge({ head: a }: Kept, { head: b }: Kept): number {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs - b.createdAtMs;
  return a.id < b.id ? -1 : 1;
}

/** Of suspects, those that are least to blame come first. */
export function byBlame(a: Kept, b: Kept): number {
  return standingOf(a).attempts - standingOf(b).attempts || byAge(a, b);
}

/** What is to be thought of a response that nobody works on, or nobody any more. */
export function standingOf({ standing, worker }: Kept): Standing {
  return worker === undefined ? standing : afterCrash(standing, "unknown");
}

/** Whether one that nobody works on is to be ended, and not run. */
export function isToEnd({ head }: Kept): boolean {
  return !head.background || head.isCancelRequested;
}

/** Whether it must work apart. One that is only to be cancelled does not work at all. */
export function isSuspect(kept: Kept): boolean {
  const { standing, worker } = kept;
  return !isToEnd(kept) && (standing.suspicion > 0 || worker !== undefined);
}
