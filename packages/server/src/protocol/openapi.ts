// The description of the API (`/openapi.json`), made from the schemas that requests are read with.

import type { JsonObject } from "rondo";
import { z } from "zod";
import { chatRequestSchema } from "./chat-request.ts";
import {
  addItemsSchema,
  conversationSchema,
  createConversationSchema,
  updateConversationSchema,
} from "./conversation.ts";
import { createRequestSchema, inputTokensSchema } from "./create-request-schema.ts";
import { streamEventSchema } from "./events.ts";
import { inputItem } from "./input-items.ts";
import { json, outputItemSchema } from "./items.ts";
import { openapiPaths } from "./openapi-paths.ts";
import { schemaOptions } from "./openapi-schema.ts";
import { responseErrorSchema, responseSchema, usageSchema } from "./response.ts";
import { tool } from "./tools.ts";

export interface OpenapiInfo {
  /** The version of the server. */
  version: string;
  /** Where it is reached. Default: the address that the document came from. */
  serverUrl?: string;
}

/** An OpenAPI 3.1 document of all endpoints. */
export function openapiDocument({ version, serverUrl }: OpenapiInfo): JsonObject {
  return {
    openapi: "3.1.0",
    info: {
      title: "Rondo",
      version,
      description: "The Responses API in front of a model that you host yourself.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: serverUrl ?? "/" }],
    security: [{}, { key: [] }],
    paths: openapiPaths(),
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key, or a JWT." },
      },
      schemas: componentSchemas(),
    },
  };
}

function listOf(item: z.ZodType) {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

function componentSchemas(): JsonObject {
  const model = z.object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
  });
  const item = z.union([outputItemSchema, inputItem]);
  const input = {
    CreateResponse: createRequestSchema,
    InputTokensRequest: inputTokensSchema,
    InputItem: inputItem,
    CreateConversation: createConversationSchema,
    ChatRequest: chatRequestSchema,
    UpdateConversation: updateConversationSchema,
    AddConversationItems: addItemsSchema,
    Tool: tool,
  };
  const output = {
    Json: json,
    Response: responseSchema,
    OutputItem: outputItemSchema,
    ResponseError: responseErrorSchema,
    StreamEvent: streamEventSchema,
    ResponseList: listOf(responseSchema),
    Item: item,
    ItemList: listOf(item),
    Conversation: conversationSchema,
    DeletedConversation: z.object({
      id: z.string(),
      object: z.literal("conversation.deleted"),
      deleted: z.literal(true),
    }),
    DeletedResponse: z.object({ id: z.string(), object: z.literal("response"), deleted: z.literal(true) }),
    CompactedResponse: z.object({
      id: z.string(),
      object: z.literal("response.compaction"),
      created_at: z.int(),
      output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
      usage: usageSchema,
    }),
    InputTokens: z.object({ object: z.literal("response.input_tokens"), input_tokens: z.int() }),
    ModelList: z.object({ object: z.literal("list"), data: z.array(model) }),
    Error: z.object({
      error: z.object({
        message: z.string(),
        type: z.string(),
        param: z.string().nullable(),
        code: z.string().nullable(),
      }),
    }),
  };
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ ...input, ...output })) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...schemaOptions,
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _address, ...schema }]) => [id, schema]),
  ) as unknown as JsonObject;
}
