// The conversations of one owner, in memory. Everything is kept as JSON and given out as a copy.

import type {
  ConversationEntry,
  ConversationHistory,
  ConversationItem,
  NewConversation,
  StoredConversation,
} from "./conversation-store.ts";
import { type EncodedItem, encodeItems } from "./encode.ts";
import type { Kept, Owner } from "./memory-record.ts";
import { pageOf } from "./page.ts";
import { checkNewItems } from "./rules.ts";
import type { ListOptions, Page } from "./store.ts";
import { StoreError } from "./store-error.ts";

export interface KeptEntry extends EncodedItem, Omit<ConversationEntry, "item"> {
  readonly conversationId: string;
}

export interface KeptConversation {
  readonly head: Omit<StoredConversation, "metadata">;
  metadata: string;
  /** By their ids, in their order. */
  readonly entries: Map<string, KeptEntry>;
  version: number;
}

export function addConversation(owner: Owner, { metadata, items, ...head }: NewConversation): void {
  if (owner.conversations.has(head.id))
    throw new StoreError("duplicate_id", `There is a conversation ${head.id} already. Give it a new id.`);
  const kept = { head: { ...head }, metadata: JSON.stringify(metadata), entries: new Map(), version: 0 };
  const encoded = checked(owner, items);
  owner.conversations.set(head.id, kept);
  append(owner, kept, encoded.map(givenByClient));
}

export function addItems(owner: Owner, id: string, items: readonly ConversationItem[]): boolean {
  const kept = owner.conversations.get(id);
  if (kept) append(owner, kept, checked(owner, items).map(givenByClient));
  return kept !== undefined;
}

/** Adds what a response has left, if it belongs to a conversation that still exists. */
export function addResponse({ owner, head, input, output, conversation: place, isClosed }: Kept): void {
  const kept = place && owner.conversations.get(place.id);
  if (!kept) return;
  const inputs = input.map(({ id, data }) => ({ id, data, responseId: head.id, turn: null, isClosed }));
  const outputs = [...output.values()]
    .toSorted((a, b) => a.index - b.index)
    .map(({ id, data, turn }) => ({ id, data, responseId: head.id, turn, isClosed }));
  append(
    owner,
    kept,
    [...inputs, ...outputs].filter(({ id }) => !owner.conversationItems.has(id)),
  );
}

export function removeConversation(owner: Owner, id: string): boolean {
  const kept = owner.conversations.get(id);
  for (const itemId of kept?.entries.keys() ?? []) owner.conversationItems.delete(itemId);
  return owner.conversations.delete(id);
}

export function removeItem(owner: Owner, id: string, itemId: string): boolean {
  const kept = owner.conversations.get(id);
  if (!kept?.entries.delete(itemId)) return false;
  owner.conversationItems.delete(itemId);
  kept.version += 1;
  return true;
}

export function toConversation({ head, metadata }: KeptConversation): StoredConversation {
  return { ...head, metadata: JSON.parse(metadata) };
}

export function itemPage(owner: Owner, id: string, options: ListOptions): Page<ConversationItem> {
  const entries = [...(owner.conversations.get(id)?.entries.values() ?? [])];
  const { data, hasMore } = pageOf(entries, options, { idOf: (entry) => entry.id });
  return { data: data.map((entry) => JSON.parse(entry.data)), hasMore };
}

/** `active`: the responses that are not over. */
export function historyOf(owner: Owner, id: string, active: Iterable<Kept>): ConversationHistory | undefined {
  const kept = owner.conversations.get(id);
  if (!kept) return undefined;
  const entries = Array.from(kept.entries.values(), ({ data, responseId, turn, isClosed }) => ({
    item: JSON.parse(data),
    responseId,
    turn,
    isClosed,
  }));
  return { entries, version: kept.version, isBusy: hasOlder(active, owner, id) };
}

/** Whether one of the responses that are not over is of this conversation, and older than this serial number. */
export function hasOlder(
  active: Iterable<Kept>,
  owner: Owner,
  id: string,
  serial = Number.POSITIVE_INFINITY,
): boolean {
  for (const kept of active)
    if (kept.conversation?.id === id && kept.owner === owner && kept.serial < serial) return true;
  return false;
}

function checked(owner: Owner, items: readonly ConversationItem[]): EncodedItem[] {
  const encoded = encodeItems(items);
  checkNewItems(
    encoded,
    encoded.map((item) => item.id).filter((id) => owner.conversationItems.has(id)),
  );
  return encoded;
}

function givenByClient({ id, data }: EncodedItem): Omit<KeptEntry, "conversationId"> {
  return { id, data, responseId: null, turn: null, isClosed: false };
}

function append(
  owner: Owner,
  kept: KeptConversation,
  entries: readonly Omit<KeptEntry, "conversationId">[],
): void {
  for (const entry of entries) {
    const added = { ...entry, conversationId: kept.head.id };
    kept.entries.set(entry.id, added);
    owner.conversationItems.set(entry.id, added);
  }
  if (entries.length > 0) kept.version += 1;
}
