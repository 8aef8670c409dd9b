// The OpenAPI document (`/openapi.json`), made from the table of routes and the schemas that requests are validated
// with.

import type { JsonObject } from "rondo";
import { z } from "zod";
import {
  chatRequestSchema,
  completionRequestSchema,
  embeddingRequestSchema,
} from "../protocol/chat-request.ts";
import { containerFileSchema, containerSchema } from "../protocol/container-object.ts";
import {
  addItemsSchema,
  conversationSchema,
  createConversationSchema,
  updateConversationSchema,
} from "../protocol/conversation.ts";
import { createRequestSchema, inputTokensSchema } from "../protocol/create-request-schema.ts";
import { streamEventSchema } from "../protocol/events.ts";
import { fileSchema } from "../protocol/file-object.ts";
import { inputItem } from "../protocol/input-items.ts";
import { json, outputItemSchema } from "../protocol/items.ts";
import {
  compactedResponseSchema,
  containerFileListSchema,
  containerListSchema,
  deletedConversationSchema,
  deletedFileSchema,
  deletedResponseSchema,
  errorReplySchema,
  fileListSchema,
  inputTokensReplySchema,
  itemListSchema,
  itemSchema,
  modelListSchema,
  modelSchema,
  responseListSchema,
} from "../protocol/replies.ts";
import { responseErrorSchema, responseSchema } from "../protocol/response.ts";
import { runListSchema, runSchema } from "../protocol/run-object.ts";
import { tool } from "../protocol/tools.ts";
import { traceSchema } from "../protocol/trace-object.ts";
import type { Route } from "./route.ts";

/** The schemas that the document names. Others are written where they are used. */
const components: Readonly<Record<string, z.ZodType>> = {
  CreateResponse: createRequestSchema,
  InputTokensRequest: inputTokensSchema,
  InputItem: inputItem,
  CreateConversation: createConversationSchema,
  ChatRequest: chatRequestSchema,
  CompletionRequest: completionRequestSchema,
  EmbeddingRequest: embeddingRequestSchema,
  UpdateConversation: updateConversationSchema,
  AddConversationItems: addItemsSchema,
  Tool: tool,
  Json: json,
  Response: responseSchema,
  OutputItem: outputItemSchema,
  ResponseError: responseErrorSchema,
  StreamEvent: streamEventSchema,
  ResponseList: responseListSchema,
  Run: runSchema,
  RunList: runListSchema,
  Trace: traceSchema,
  Item: itemSchema,
  ItemList: itemListSchema,
  Conversation: conversationSchema,
  DeletedConversation: deletedConversationSchema,
  DeletedResponse: deletedResponseSchema,
  CompactedResponse: compactedResponseSchema,
  InputTokens: inputTokensReplySchema,
  Container: containerSchema,
  ContainerList: containerListSchema,
  ContainerFile: containerFileSchema,
  ContainerFileList: containerFileListSchema,
  File: fileSchema,
  FileList: fileListSchema,
  DeletedFile: deletedFileSchema,
  Model: modelSchema,
  ModelList: modelListSchema,
  Error: errorReplySchema,
};

/** An OpenAPI 3.1 document of all routes. `version` is the server's. */
export function openapiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)(?:\{[^}]*\})?/g, (_, name: string) => `{${nameOf(route, name)}}`);
    const parameters = Object.values(route.params ?? {}).map((name) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    }));
    paths[path] ??= parameters.length > 0 ? { parameters } : {};
    paths[path][route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Rondo",
      version,
      description: "The Responses API in front of a model that you host yourself.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{}, { key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key, or a JWT." },
      },
      schemas: componentSchemas(),
    },
  };
}

function nameOf({ path, params = {} }: Route, param: string): string {
  const name = params[param];
  if (name === undefined) throw new Error(`The route ${path} has no entry for :${param} in its params.`);
  return name;
}

function operation(route: Route): JsonObject {
  const { operationId, summary, query, headers = {}, body, form, events, isPublic = false } = route;
  const parameters = [
    ...queryParameters(query),
    ...Object.entries(headers).map(([name, header]) => ({ name, in: "header", required: false, ...header })),
  ];
  const errors = Object.entries({
    ...((body || form || query) && { "400": "The request is invalid." }),
    ...((body || form) && {
      "413": "The body is too large.",
      "415": `The body is not ${body ? "JSON" : "a form"}.`,
    }),
    ...(!isPublic && { "429": "The owner has too much in flight. `Retry-After` says when to try again." }),
    ...route.errors,
    default: "Any other error.",
  });
  return {
    operationId,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...((body || form) && {
      requestBody: {
        required: !route.isBodyOptional,
        content: {
          ...(body && contentOf(body)),
          ...(form && { "multipart/form-data": { schema: schemaOf(form) } }),
        },
      },
    }),
    responses: {
      "200": {
        description: "Success.",
        // A stream of `event: TYPE`, `data: JSON` with this schema, and `data: [DONE]` at the end.
        content: {
          ...replyOf(route),
          ...(events && { "text/event-stream": { schema: schemaOf(events) } }),
        },
      },
      ...Object.fromEntries(
        errors.map(([status, description]) => [
          status,
          { description, content: contentOf(errorReplySchema) },
        ]),
      ),
    },
  };
}

function queryParameters(query: z.ZodObject | undefined): JsonObject[] {
  const { properties = {} } = query ? z.toJSONSchema(query, schemaOptions) : {};
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as JsonObject;
    return { name, in: "query", required: false, schema, ...(description && { description }) };
  });
}

function replyOf({ reply, isBinary }: Route): JsonObject {
  if (isBinary) return { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
  return reply ? contentOf(reply) : {};
}

function contentOf(schema: z.ZodType): JsonObject {
  const type = schema instanceof z.ZodString ? "text/plain" : "application/json";
  return { [type]: { schema: schemaOf(schema) } };
}

/** A reference to a component, or the schema itself. */
function schemaOf(schema: z.ZodType): JsonObject {
  const [name] = Object.entries(components).find(([, known]) => known === schema) ?? [];
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return withoutDialect(z.toJSONSchema(schema, schemaOptions));
}

function componentSchemas(): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(components)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    ...schemaOptions,
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutDialect(schema)]));
}

function withoutDialect({ $schema: _dialect, $id: _address, ...schema }: z.core.JSONSchema.BaseSchema) {
  return schema as JsonObject;
}

/** As clients may send it, and without the range that zod gives every integer. */
const schemaOptions = {
  io: "input",
  override({ jsonSchema }) {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const satisfies z.core.ToJSONSchemaParams;
