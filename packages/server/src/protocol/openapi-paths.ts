// The endpoints, for the description of the API: what each takes and answers.

import type { JsonObject } from "rondo";
import { conversationPaths } from "./openapi-conversation-paths.ts";
import { anyJson, jsonOf, operation, plain, ref } from "./openapi-operation.ts";
import { listQuerySchema, pageQuerySchema, retrieveQuerySchema } from "./query.ts";

/** A stream of `event: TYPE`, `data: JSON` with the schema here, and `data: [DONE]` at the end. */
const events = { "text/event-stream": { schema: ref("StreamEvent") } };
const unknownId = { "404": "There is no such response, or it belongs to another owner." };

/** All paths with their operations. */
export function openapiPaths(): JsonObject {
  return {
    "/v1/responses": {
      post: operation({
        id: "createResponse",
        summary: "Run a model with its tools; as one answer, as a stream, or in the background.",
        takes: "CreateResponse",
        headers: {
          "Idempotency-Key": {
            description:
              "Names this request: sent again with the same key and body, it gives the same response and runs nothing.",
            schema: { type: "string", minLength: 1, maxLength: 255 },
          },
        },
        gives: { ...jsonOf("Response"), ...events },
        errors: {
          "404": "There is no such model or previous response.",
          "413": "The body is too big.",
          "415": "The body is not JSON.",
          "422": "The Idempotency-Key was used before, for a request with another body.",
          "429": "The owner has too much under way, or the model server has too much to do.",
          "502": "The model has failed.",
          "504": "The model was too slow.",
        },
      }),
      get: operation({
        id: "listResponses",
        summary: "List stored responses.",
        query: listQuerySchema,
        gives: jsonOf("ResponseList"),
      }),
    },
    "/v1/responses/input_tokens": {
      post: operation({
        id: "countInputTokens",
        summary: "Count the tokens that a request would send to the model.",
        takes: "InputTokensRequest",
        gives: jsonOf("InputTokens"),
        errors: { "404": "There is no such model or previous response." },
      }),
    },
    "/v1/responses/compact": {
      post: operation({
        id: "compactResponse",
        summary: "Make a conversation short: the user's messages, and a sealed summary to go on with.",
        takes: "InputTokensRequest",
        gives: jsonOf("CompactedResponse"),
        errors: { "404": "There is no such model or previous response." },
      }),
    },
    "/v1/responses/{response_id}": {
      parameters: [responseId],
      get: operation({
        id: "getResponse",
        summary: "Get a response, or follow its events.",
        query: retrieveQuerySchema,
        gives: { ...jsonOf("Response"), ...events },
        errors: unknownId,
      }),
      delete: operation({
        id: "deleteResponse",
        summary: "Delete a response with all that belongs to it.",
        gives: jsonOf("DeletedResponse"),
        errors: unknownId,
      }),
    },
    "/v1/responses/{response_id}/cancel": {
      parameters: [responseId],
      post: operation({
        id: "cancelResponse",
        summary: "Cancel a response that runs in the background.",
        gives: jsonOf("Response"),
        errors: unknownId,
      }),
    },
    "/v1/responses/{response_id}/input_items": {
      parameters: [responseId],
      get: operation({
        id: "listInputItems",
        summary: "List the input items of a response.",
        query: pageQuerySchema,
        gives: jsonOf("ItemList"),
        errors: unknownId,
      }),
    },
    ...conversationPaths(),
    "/v1/chat/completions": {
      post: operation({
        id: "createChatCompletion",
        summary: "Ask a model by the chat-completions API. Passed through to the model's server as it is.",
        takes: "ChatRequest",
        gives: { ...anyJson, "text/event-stream": { schema: { type: "object" } } },
        errors: {
          "404": "There is no such model.",
          "413": "The body is too big.",
          "415": "The body is not JSON.",
          "429": "The owner has too much under way, or the model server has too much to do.",
          "502": "The model has failed.",
          "504": "The model was too slow.",
        },
      }),
    },
    "/v1/models": {
      get: operation({ id: "listModels", summary: "List the models.", gives: jsonOf("ModelList") }),
    },
    "/healthz": {
      get: operation({
        id: "isAlive",
        isPublic: true,
        summary: "Whether the process is alive.",
        gives: anyJson,
      }),
    },
    "/readyz": {
      get: operation({
        id: "isReady",
        isPublic: true,
        summary: "Whether it can take requests.",
        gives: anyJson,
        errors: { "503": "It cannot: the store does not work, or the server is stopping." },
      }),
    },
    "/metrics": {
      get: operation({
        id: "getMetrics",
        isPublic: true,
        summary: "Metrics, in the format of Prometheus.",
        gives: plain,
      }),
    },
    "/openapi.json": {
      get: operation({ id: "getOpenapi", isPublic: true, summary: "This document.", gives: anyJson }),
    },
  };
}

const responseId = { name: "response_id", in: "path", required: true, schema: { type: "string" } };
