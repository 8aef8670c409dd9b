// The conversations of one owner, in memory. Everything is record as JSON and given out as a copy.

import type {
  ConversationEntry,
  ConversationHistory,
  ConversationItem,
  NewConversation,
  StoredConversation,
} from "../conversation-store.ts";
import { type EncodedItem, encodeItems } from "../encode.ts";
import { checkNewItems } from "../rules.ts";
import type { ListOptions, Page } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { OwnerRecord, ResponseRecord } from "./memory-record.ts";
import { pageOf } from "./page.ts";

export interface EntryRecord extends EncodedItem, Omit<ConversationEntry, "item"> {
  readonly conversationId: string;
}

export interface ConversationRecord {
  readonly head: Omit<StoredConversation, "metadata">;
  metadata: string;
  /** By their ids, in their order. */
  readonly entries: Map<string, EntryRecord>;
  version: number;
}

export function addConversation(owner: OwnerRecord, { metadata, items, ...head }: NewConversation): void {
  if (owner.conversations.has(head.id))
    throw new StoreError("duplicate_id", `There is a conversation ${head.id} already. Give it a new id.`);
  const record = { head: { ...head }, metadata: JSON.stringify(metadata), entries: new Map(), version: 0 };
  const encoded = checked(owner, items);
  owner.conversations.set(head.id, record);
  append(owner, record, encoded.map(givenByClient));
}

export function addItems(owner: OwnerRecord, id: string, items: readonly ConversationItem[]): boolean {
  const record = owner.conversations.get(id);
  if (record) append(owner, record, checked(owner, items).map(givenByClient));
  return record !== undefined;
}

/** Adds what a response has left, if it belongs to a conversation that still exists. */
export function addResponse({
  owner,
  head,
  input,
  output,
  conversation: place,
  isClosed,
}: ResponseRecord): void {
  const record = place && owner.conversations.get(place.id);
  if (!record) return;
  const inputs = input.map(({ id, data }) => ({ id, data, responseId: head.id, turn: null, isClosed }));
  const outputs = [...output.values()]
    .toSorted((a, b) => a.index - b.index)
    .map(({ id, data, turn }) => ({ id, data, responseId: head.id, turn, isClosed }));
  append(
    owner,
    record,
    [...inputs, ...outputs].filter(({ id }) => !owner.conversationItems.has(id)),
  );
}

export function removeConversation(owner: OwnerRecord, id: string): boolean {
  const record = owner.conversations.get(id);
  for (const itemId of record?.entries.keys() ?? []) owner.conversationItems.delete(itemId);
  return owner.conversations.delete(id);
}

export function removeItem(owner: OwnerRecord, id: string, itemId: string): boolean {
  const record = owner.conversations.get(id);
  if (!record?.entries.delete(itemId)) return false;
  owner.conversationItems.delete(itemId);
  record.version += 1;
  return true;
}

export function toConversation({ head, metadata }: ConversationRecord): StoredConversation {
  return { ...head, metadata: JSON.parse(metadata) };
}

export function itemPage(owner: OwnerRecord, id: string, options: ListOptions): Page<ConversationItem> {
  const entries = [...(owner.conversations.get(id)?.entries.values() ?? [])];
  const { data, hasMore } = pageOf(entries, options, { idOf: (entry) => entry.id });
  return { data: data.map((entry) => JSON.parse(entry.data)), hasMore };
}

/** `active`: the responses that are not over. */
export function historyOf(
  owner: OwnerRecord,
  id: string,
  active: Iterable<ResponseRecord>,
): ConversationHistory | undefined {
  const record = owner.conversations.get(id);
  if (!record) return undefined;
  const entries = Array.from(record.entries.values(), ({ data, responseId, turn, isClosed }) => ({
    item: JSON.parse(data),
    responseId,
    turn,
    isClosed,
  }));
  return { entries, version: record.version, isBusy: hasOlder(active, owner, id) };
}

/** Whether one of the responses that are not over is of this conversation, and older than this serial number. */
export function hasOlder(
  active: Iterable<ResponseRecord>,
  owner: OwnerRecord,
  id: string,
  serial = Number.POSITIVE_INFINITY,
): boolean {
  for (const record of active)
    if (record.conversation?.id === id && record.owner === owner && record.serial < serial) return true;
  return false;
}

function checked(owner: OwnerRecord, items: readonly ConversationItem[]): EncodedItem[] {
  const encoded = encodeItems(items);
  checkNewItems(
    encoded,
    encoded.map((item) => item.id).filter((id) => owner.conversationItems.has(id)),
  );
  return encoded;
}

function givenByClient({ id, data }: EncodedItem): Omit<EntryRecord, "conversationId"> {
  return { id, data, responseId: null, turn: null, isClosed: false };
}

function append(
  owner: OwnerRecord,
  record: ConversationRecord,
  entries: readonly Omit<EntryRecord, "conversationId">[],
): void {
  for (const entry of entries) {
    const added = { ...entry, conversationId: record.head.id };
    record.entries.set(entry.id, added);
    owner.conversationItems.set(entry.id, added);
  }
  if (entries.length > 0) record.version += 1;
}
