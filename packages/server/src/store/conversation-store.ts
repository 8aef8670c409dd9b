// What a store keeps of conversations: lists of items that outlive the responses that have added to them.
//
// A response that belongs to a conversation adds its items there in the commit that ends it. While it is queued or
// in progress it is the conversation's lock: only the oldest such response may run, whoever asks on whichever node.

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

/** An item with what it takes to put it back into the model's words. */
export interface ConversationEntry {
  readonly item: ConversationItem;
  /** The response that has added it; null if a client has. */
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
   * Whether nobody else may be at work on the conversation (`conversation_busy`). One that is `in_progress` at
   * once always needs that; one that is `queued` waits for its turn without it.
   */
  readonly mustBeFree: boolean;
  /** Set if the items must still be those of this version (`conversation_changed`). */
  readonly version?: number;
}

/** All limited to an owner. What belongs to another does not exist. */
export interface ConversationStore {
  createConversation(conversation: NewConversation): Promise<void>;
  getConversation(owner: string, id: string): Promise<StoredConversation | undefined>;
  /** Puts other metadata in the place of what was there. */
  updateConversation(
    owner: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | undefined>;
  /** Removes a conversation with its items. Its responses stay, and those that still run add to nothing. */
  removeConversation(owner: string, id: string): Promise<boolean>;
  /** Adds items at the end. Gives whether there is such a conversation. */
  addConversationItems(owner: string, id: string, items: readonly ConversationItem[]): Promise<boolean>;
  /** Gives whether there was such an item. */
  removeConversationItem(owner: string, id: string, itemId: string): Promise<boolean>;
  getConversationItem(owner: string, id: string, itemId: string): Promise<ConversationItem | undefined>;
  /** In the order in which they were added. An unknown cursor is a `StoreError` with the code `unknown_cursor`. */
  listConversationItems(owner: string, id: string, options: ListOptions): Promise<Page<ConversationItem>>;
  readConversation(owner: string, id: string): Promise<ConversationHistory | undefined>;
}

/** Whether a response that ends like this adds its items: the others leave the conversation as it was. */
export function addsToConversation(status: ResponseStatus): boolean {
  return status === "completed" || status === "incomplete" || status === "requires_action";
}
