// The part of a store that keeps conversations: lists of items that outlive the responses that added them.
//
// A response adds its items to its conversation in the commit that ends it. Until then it locks the conversation: of
// the responses that are queued or in progress only the oldest may run, on all nodes.

import type { InputItem, OutputItem } from "../protocol/items.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import type { ListOptions, Page } from "./store.ts";

export interface StoredConversation {
  readonly id: string;
  /** Who may see it. */
  readonly owner: string;
  readonly createdAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface NewConversation extends StoredConversation {
  /** Its first items, each with an id that no other conversation item of this owner has. */
  readonly items: readonly ConversationItem[];
}

/** Any item with an id. */
export type ConversationItem = (InputItem & { id: string }) | OutputItem;

/** An item, with what is needed to rebuild the model's messages. */
export interface ConversationEntry {
  readonly item: ConversationItem;
  /** The response that added it; null if a client did. */
  readonly responseId: string | null;
  /** Which answer of that response it belongs to; null for its input. */
  readonly turn: number | null;
  /** Whether a call in it may stay unanswered. */
  readonly isClosed: boolean;
}

/** All of a conversation, as a run reads it. */
export interface ConversationHistory {
  readonly entries: readonly ConversationEntry[];
  /** Grows with every change of the items. */
  readonly version: number;
  /** Whether a response of it is queued or in progress. */
  readonly isBusy: boolean;
}

/** Which conversation a new response belongs to, and when it may be created. */
export interface ConversationPlace {
  readonly id: string;
  /**
   * Whether the conversation must be free (`conversation_busy`). An `in_progress` response always needs that; a `queued`
   * one waits without it.
   */
  readonly mustBeFree: boolean;
  /** Set if the items must still be those of this version (`conversation_changed`). */
  readonly version?: number;
}

/** All limited to an owner. What belongs to another does not exist. */
export interface ConversationStore {
  createConversation(conversation: NewConversation): Promise<void>;
  getConversation(owner: string, id: string): Promise<StoredConversation | undefined>;
  /** Replaces the metadata. */
  updateConversation(
    owner: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | undefined>;
  /** Removes a conversation with its items. Its responses stay; those that still run add nothing. */
  removeConversation(owner: string, id: string): Promise<boolean>;
  /** Appends items. Returns whether the conversation exists. */
  addConversationItems(owner: string, id: string, items: readonly ConversationItem[]): Promise<boolean>;
  /** Returns whether the item existed. */
  removeConversationItem(owner: string, id: string, itemId: string): Promise<boolean>;
  getConversationItem(owner: string, id: string, itemId: string): Promise<ConversationItem | undefined>;
  /** In the order of their addition. An unknown cursor is a `StoreError` with the code `unknown_cursor`. */
  listConversationItems(owner: string, id: string, options: ListOptions): Promise<Page<ConversationItem>>;
  readConversation(owner: string, id: string): Promise<ConversationHistory | undefined>;
}

/** Whether a response that ends with this status adds its items to its conversation. */
export function addsToConversation(status: ResponseStatus): boolean {
  return status === "completed" || status === "incomplete" || status === "requires_action";
}
