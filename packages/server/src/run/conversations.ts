// What clients can do with conversations: make, read, change and delete them and their items.

import { unknownConversation } from "../engine/conversation-history.ts";
import { resolveReferences } from "../engine/history.ts";
import { Executors } from "../executor/executors.ts";
import { type ApiError, notFound } from "../protocol/api-error.ts";
import {
  type ConversationLimits,
  type ConversationObject,
  parseAddItems,
  parseCreateConversation,
  parseUpdateConversation,
} from "../protocol/conversation.ts";
import { itemWithoutCredentials } from "../protocol/credentials.ts";
import { newId } from "../protocol/ids.ts";
import type { InputItem } from "../protocol/items.ts";
import type { PageQuery } from "../protocol/query.ts";
import { shownInput } from "../protocol/shown-input.ts";
import type { ConversationItem, StoredConversation } from "../store/conversation-store.ts";
import type { ListOptions, Store } from "../store/store.ts";
import { type ListObject, toCursorError, toList } from "./list-object.ts";
import { withNewId } from "./new-item.ts";

export interface ConversationsOptions {
  readonly store: Store;
  readonly limits: ConversationLimits;
  /** Whose items may refer to stored ones. Default: the built-in executors. */
  readonly executors?: Executors;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** All methods throw an `ApiError` for what the client is to be told. What belongs to another owner is a 404. */
export class Conversations {
  readonly #store: Store;
  readonly #limits: ConversationLimits;
  readonly #executors: Executors;
  readonly #now: () => number;

  constructor({ store, limits, executors = new Executors({}), now = Date.now }: ConversationsOptions) {
    this.#store = store;
    this.#limits = limits;
    this.#executors = executors;
    this.#now = now;
  }

  async create(owner: string, body: unknown): Promise<ConversationObject> {
    const { items, metadata } = parseCreateConversation(body, this.#limits);
    const conversation = { id: newId("conv"), owner, createdAtMs: this.#now(), metadata };
    await this.#store.createConversation({ ...conversation, items: await this.#toKept(owner, items) });
    return toObject(conversation);
  }

  async get(owner: string, id: string): Promise<ConversationObject> {
    const found = await this.#store.getConversation(owner, id);
    if (!found) throw unknown(id);
    return toObject(found);
  }

  /** Puts other metadata in the place of what was there. */
  async update(owner: string, id: string, body: unknown): Promise<ConversationObject> {
    const { metadata } = parseUpdateConversation(body);
    const found = await this.#store.updateConversation(owner, id, metadata);
    if (!found) throw unknown(id);
    return toObject(found);
  }

  /** Removes a conversation and its items; its responses stay. */
  async remove(
    owner: string,
    id: string,
  ): Promise<{ id: string; object: "conversation.deleted"; deleted: true }> {
    if (!(await this.#store.removeConversation(owner, id))) throw unknown(id);
    return { id, object: "conversation.deleted", deleted: true };
  }

  async items(owner: string, id: string, query: PageQuery): Promise<ListObject<InputItem>> {
    await this.get(owner, id);
    const options: ListOptions = query;
    const page = await this.#store.listConversationItems(owner, id, options).catch(toCursorError);
    return toList({ ...page, data: page.data.map(shown) });
  }

  /** Adds items at the end, and gives them with their ids. */
  async addItems(owner: string, id: string, body: unknown): Promise<ListObject<InputItem>> {
    const items = await this.#toKept(owner, parseAddItems(body, this.#limits));
    if (!(await this.#store.addConversationItems(owner, id, items))) throw unknown(id);
    return toList({ data: items.map(shown), hasMore: false });
  }

  async item(owner: string, id: string, itemId: string): Promise<InputItem> {
    await this.get(owner, id);
    const found = await this.#store.getConversationItem(owner, id, itemId);
    if (!found) throw unknownItem(id, itemId);
    return shown(found);
  }

  /** Removes an item, and gives the conversation. */
  async removeItem(owner: string, id: string, itemId: string): Promise<ConversationObject> {
    const conversation = await this.get(owner, id);
    if (!(await this.#store.removeConversationItem(owner, id, itemId))) throw unknownItem(id, itemId);
    return conversation;
  }

  /** References become copies of what they refer to: a conversation must not lose what another deletes. */
  async #toKept(owner: string, items: readonly InputItem[]): Promise<(InputItem & { id: string })[]> {
    const entries = await resolveReferences(this.#store, owner, items, this.#executors);
    return entries.map(({ item }) => withNewId(itemWithoutCredentials(item)));
  }
}

function toObject({ id, createdAtMs, metadata }: StoredConversation): ConversationObject {
  return {
    id,
    object: "conversation",
    created_at: Math.floor(createdAtMs / 1000),
    metadata: { ...metadata },
  };
}

function shown(item: ConversationItem): InputItem {
  return shownInput(item as unknown as InputItem);
}

function unknown(id: string): ApiError {
  return unknownConversation(id, "conversation_id");
}

function unknownItem(id: string, itemId: string): ApiError {
  return notFound(
    `Item with id '${itemId}' not found in the conversation '${id}'.`,
    "item_not_found",
    "item_id",
  );
}
