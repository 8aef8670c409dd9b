// The routes of conversations and their items.

import {
  addItemsSchema,
  conversationSchema,
  createConversationSchema,
  updateConversationSchema,
} from "../protocol/conversation.ts";
import { itemQuerySchema, itemsQuerySchema } from "../protocol/query.ts";
import { deletedConversationSchema, itemListSchema, itemSchema } from "../protocol/replies.ts";
import { type ConversationsApi, type Route, route } from "./route.ts";

const errors = { "404": "There is no such conversation or item, or it belongs to another owner." };
const ofConversation = { params: { id: "conversation_id" }, errors };
const ofItem = { params: { id: "conversation_id", item: "item_id" }, errors };

export function conversationRoutes({ conversations }: { conversations: ConversationsApi }): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/conversations",
      operationId: "createConversation",
      summary: "Create a conversation.",
      body: createConversationSchema,
      isBodyOptional: true,
      reply: conversationSchema,
      errors: { "404": "An item that is referred to does not exist." },
      handle: ({ owner, body }) => conversations.create(owner, body.value),
    }),
    route({
      method: "GET",
      path: "/v1/conversations/:id",
      ...ofConversation,
      operationId: "getConversation",
      summary: "Get a conversation.",
      reply: conversationSchema,
      handle: ({ owner, params }) => conversations.get(owner, params.id),
    }),
    route({
      method: "POST",
      path: "/v1/conversations/:id",
      ...ofConversation,
      operationId: "updateConversation",
      summary: "Replace the metadata of a conversation.",
      body: updateConversationSchema,
      reply: conversationSchema,
      handle: ({ owner, params, body }) => conversations.update(owner, params.id, body.value),
    }),
    route({
      method: "DELETE",
      path: "/v1/conversations/:id",
      ...ofConversation,
      operationId: "deleteConversation",
      summary: "Delete a conversation and its items. Its responses stay.",
      reply: deletedConversationSchema,
      handle: ({ owner, params }) => conversations.remove(owner, params.id),
    }),
    route({
      method: "POST",
      path: "/v1/conversations/:id/items",
      ...ofConversation,
      operationId: "addConversationItems",
      summary: "Add items at the end of a conversation.",
      query: itemQuerySchema,
      body: addItemsSchema,
      reply: itemListSchema,
      handle: ({ owner, params, body }) => conversations.addItems(owner, params.id, body.value),
    }),
    route({
      method: "GET",
      path: "/v1/conversations/:id/items",
      ...ofConversation,
      operationId: "listConversationItems",
      summary: "List the items of a conversation.",
      query: itemsQuerySchema,
      reply: itemListSchema,
      handle: ({ owner, params, query }) => conversations.items(owner, params.id, query),
    }),
    route({
      method: "GET",
      path: "/v1/conversations/:id/items/:item",
      ...ofItem,
      operationId: "getConversationItem",
      summary: "Get an item of a conversation.",
      query: itemQuerySchema,
      reply: itemSchema,
      handle: ({ owner, params }) => conversations.item(owner, params.id, params.item),
    }),
    route({
      method: "DELETE",
      path: "/v1/conversations/:id/items/:item",
      ...ofItem,
      operationId: "deleteConversationItem",
      summary: "Delete an item of a conversation.",
      reply: conversationSchema,
      handle: ({ owner, params }) => conversations.removeItem(owner, params.id, params.item),
    }),
  ];
}
