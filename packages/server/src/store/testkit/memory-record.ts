// What the memory store holds for one response, and how it is given out: always as a copy.

import type { InputItem } from "../../protocol/items.ts";
import type { EncodedItem, EncodedNew } from "../encode.ts";
import type { KnownItem } from "../rules.ts";
import { goodStanding, type Standing } from "../standing.ts";
import type {
  ChainLink,
  RunSummary,
  StoredEvent,
  StoredOutput,
  StoredResponse,
  StoredRun,
  TracePiece,
} from "../store.ts";
import type { ConversationRecord, EntryRecord } from "./memory-conversations.ts";

/** A stored response. All that a caller could change by accident is record as JSON. */
export interface ResponseRecord {
  /** Grows with each response: a response can only follow one that was there before it. */
  readonly serial: number;
  readonly owner: OwnerRecord;
  head: Omit<StoredResponse, "request" | "error" | "usage">;
  readonly request: string;
  error: string | null;
  usage: string | null;
  credentials: string | undefined;
  endedAtMs: number | undefined;
  readonly input: readonly EncodedItem[];
  readonly output: Map<number, OutputRecord>;
  readonly conversation: EncodedNew["conversation"];
  readonly isClosed: boolean;
  readonly key: string | undefined;
  readonly events: StoredEvent[];
  readonly steps: string[];
  readonly trace: TracePiece[];
  readonly title: string | null;
  readonly source: string | null;
  readonly threadId: string;
  worker: string | undefined;
  leaseUntilMs: number;
  fence: number;
  standing: Standing;
}

export interface OutputRecord extends KnownItem, EncodedItem {
  readonly index: number;
  readonly turn: number;
}

export interface OwnerRecord {
  readonly responses: Map<string, ResponseRecord>;
  readonly items: Map<string, EncodedItem | OutputRecord>;
  readonly conversations: Map<string, ConversationRecord>;
  readonly conversationItems: Map<string, EntryRecord>;
  readonly keys: Map<string, KeyRecord>;
}

export interface KeyRecord {
  readonly fingerprint: string;
  readonly untilMs: number;
  readonly responseId: string;
}

export function newOwner(): OwnerRecord {
  return {
    responses: new Map(),
    items: new Map(),
    conversations: new Map(),
    conversationItems: new Map(),
    keys: new Map(),
  };
}

export function newRecord(response: EncodedNew, owner: OwnerRecord, serial: number): ResponseRecord {
  const { request, input, events, conversation, isClosed, credentials, idempotency, ...rest } = response;
  const { title = null, source = null, ...head } = rest;
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
    trace: [],
    title,
    source,
    threadId: threadOf(response, owner),
    worker: undefined,
    leaseUntilMs: 0,
    fence: 0,
    standing: goodStanding,
  };
}

function threadOf({ id, conversation, previousResponseId: previous }: EncodedNew, owner: OwnerRecord) {
  if (conversation !== undefined) return conversation.id;
  return previous === null ? id : (owner.responses.get(previous)?.threadId ?? previous);
}

export function toSummary({ head, error, usage, title, source, threadId }: ResponseRecord): RunSummary {
  const { owner: _owner, incompleteReason: _why, isCancelRequested: _wish, ...short } = head;
  return {
    ...short,
    title,
    source,
    threadId,
    error: error === null ? null : JSON.parse(error),
    usage: usage === null ? null : JSON.parse(usage),
  };
}

export function toResponse({ head, request, error, usage }: ResponseRecord): StoredResponse {
  return {
    ...head,
    request: JSON.parse(request),
    error: error === null ? null : JSON.parse(error),
    usage: usage === null ? null : JSON.parse(usage),
  };
}

export function toOutput({ output }: ResponseRecord): StoredOutput[] {
  return [...output.values()]
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, turn, data }) => ({ index, turn, item: JSON.parse(data) }));
}

export function toLink(record: ResponseRecord): ChainLink {
  const { id, status } = record.head;
  return { id, status, isClosed: record.isClosed, input: toInput(record), output: toOutput(record) };
}

export function toRun(record: ResponseRecord): StoredRun {
  return {
    input: toInput(record),
    output: toOutput(record),
    steps: record.steps.map((step) => JSON.parse(step)),
    lastSequence: record.events.length - 1,
    credentials: record.credentials,
    trace: {
      next: (record.trace.at(-1)?.last ?? -1) + 1,
      bytes: record.trace.reduce((sum, { lines }) => sum + Buffer.byteLength(lines), 0),
    },
  };
}

function toInput({ input }: ResponseRecord): InputItem[] {
  return input.map((item) => JSON.parse(item.data));
}

/** Oldest first, and in one order only, also for those of the same millisecond. */
export function byAge({ head: a }: ResponseRecord, { head: b }: ResponseRecord): number {
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs - b.createdAtMs;
  return a.id < b.id ? -1 : 1;
}
