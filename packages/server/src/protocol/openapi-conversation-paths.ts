// The endpoints of conversations, for the description of the API.

import type { JsonObject } from "rondo";
import { jsonOf, operation } from "./openapi-operation.ts";
import { itemQuerySchema, itemsQuerySchema } from "./query.ts";

const inPath = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
const conversationId = inPath("conversation_id");
const unknownId = { "404": "There is no such conversation or item, or it belongs to another owner." };

export function conversationPaths(): JsonObject {
  return {
    "/v1/conversations": {
      post: operation({
        id: "createConversation",
        summary: "Begin a conversation.",
        takes: "CreateConversation",
        gives: jsonOf("Conversation"),
        errors: { "404": "There is no such item to refer to." },
      }),
    },
    "/v1/conversations/{conversation_id}": {
      parameters: [conversationId],
      get: operation({
        id: "getConversation",
        summary: "Get a conversation.",
        gives: jsonOf("Conversation"),
        errors: unknownId,
      }),
      post: operation({
        id: "updateConversation",
        summary: "Replace the metadata of a conversation.",
        takes: "UpdateConversation",
        gives: jsonOf("Conversation"),
        errors: unknownId,
      }),
      delete: operation({
        id: "deleteConversation",
        summary: "Delete a conversation and its items. Its responses stay.",
        gives: jsonOf("DeletedConversation"),
        errors: unknownId,
      }),
    },
    "/v1/conversations/{conversation_id}/items": {
      parameters: [conversationId],
      get: operation({
        id: "listConversationItems",
        summary: "List the items of a conversation.",
        query: itemsQuerySchema,
        gives: jsonOf("ItemList"),
        errors: unknownId,
      }),
      post: operation({
        id: "addConversationItems",
        summary: "Add items at the end of a conversation.",
        takes: "AddConversationItems",
        query: itemQuerySchema,
        gives: jsonOf("ItemList"),
        errors: unknownId,
      }),
    },
    "/v1/conversations/{conversation_id}/items/{item_id}": {
      parameters: [conversationId, inPath("item_id")],
      get: operation({
        id: "getConversationItem",
        summary: "Get an item of a conversation.",
        query: itemQuerySchema,
        gives: jsonOf("Item"),
        errors: unknownId,
      }),
      delete: operation({
        id: "deleteConversationItem",
        summary: "Delete an item of a conversation.",
        gives: jsonOf("Conversation"),
        errors: unknownId,
      }),
    },
  };
}
