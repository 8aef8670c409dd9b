// The routes of the Responses API.

import { createRequestSchema, inputTokensSchema } from "../protocol/create-request-schema.ts";
import { streamEventSchema } from "../protocol/events.ts";
import {
  listQuerySchema,
  pageQuerySchema,
  retrieveQuerySchema,
  runsQuerySchema,
  traceQuerySchema,
} from "../protocol/query.ts";
import {
  compactedResponseSchema,
  deletedResponseSchema,
  inputTokensReplySchema,
  itemListSchema,
  responseListSchema,
} from "../protocol/replies.ts";
import { responseSchema } from "../protocol/response.ts";
import { runListSchema } from "../protocol/run-object.ts";
import { traceSchema } from "../protocol/trace-object.ts";
import type { RepeatKey } from "../run/repeat.ts";
import type { Exchange } from "./exchange.ts";
import { idempotencyKeyHeader, idempotencyKeyOf } from "./idempotency-key.ts";
import { modelErrors, type ResponsesApi, type Route, route } from "./route.ts";
import { type ClientView, type RequiresActionStatus, viewFor } from "./shown-status.ts";
import { replyWithStream, type StreamOptions, sendErrorEvent } from "./stream.ts";
import { traceHeadersOf } from "./trace-headers.ts";

export interface ResponseRoutesOptions extends StreamOptions {
  responses: ResponsesApi;
  /** Which clients see the status `requires_action`. Default: `auto`. */
  requiresActionStatus?: RequiresActionStatus;
}

const noModel = "There is no such model or previous response.";
const ofResponse = {
  params: { id: "response_id" },
  errors: { "404": "There is no such response, or it belongs to another owner." },
};

export function responseRoutes(options: ResponseRoutesOptions): Route[] {
  const { responses, requiresActionStatus = "auto" } = options;
  const viewOf = ({ incoming }: Exchange): ClientView => viewFor(incoming.headers, requiresActionStatus);

  const follow = (exchange: Exchange, owner: string, id: string, startingAfter: number) => {
    exchange.isFollowing = true;
    return replyWithStream(
      exchange,
      options,
      (sink, signal) => responses.follow(owner, id, startingAfter, viewOf(exchange).sink(sink), signal),
      (writer, error) => sendErrorEvent(writer, error, startingAfter + 1),
    );
  };

  /** Replies with the response of an earlier, identical request. That one was validated, and so is `body`. */
  const repeat = async (exchange: Exchange, owner: string, id: string, body: unknown) => {
    exchange.responseId = id;
    if ((body as { stream?: unknown }).stream === true) return follow(exchange, owner, id, -1);
    return viewOf(exchange).response(await responses.repeat(owner, id, exchange.signal));
  };

  const create = async (exchange: Exchange, owner: string, body: unknown, repeatKey?: RepeatKey) => {
    const headers = traceHeadersOf(exchange.incoming);
    const prepared = await responses.prepare(owner, body, { headers, ...(repeatKey && { repeatKey }) });
    const { stream, background, model } = prepared.request;
    exchange.responseId = prepared.id;
    exchange.model = model;
    exchange.audited?.created(prepared);
    if (background) {
      // With a key, it may be the response of an identical request that came first.
      const queued = await responses.enqueue(prepared);
      exchange.responseId = queued.id;
      return stream ? follow(exchange, owner, queued.id, -1) : viewOf(exchange).response(queued);
    }
    if (!stream) {
      const response = await responses.runPlain(prepared, exchange.signal);
      const cut = response.usage?.input_tokens_details.cut_tokens;
      if (cut !== undefined) exchange.headers["rondo-prompt-cut"] = `${cut}`;
      return viewOf(exchange).response(response);
    }
    return replyWithStream(exchange, options, (sink, signal) =>
      responses.runStreamed(prepared, viewOf(exchange).sink(sink), signal),
    );
  };

  return [
    route({
      method: "POST",
      path: "/v1/responses",
      operationId: "createResponse",
      summary: "Run a model with its tools: in one reply, as a stream, or in the background.",
      headers: { "Idempotency-Key": idempotencyKeyHeader },
      body: createRequestSchema,
      reply: responseSchema,
      events: streamEventSchema,
      errors: {
        ...modelErrors,
        "404": noModel,
        "422": "The Idempotency-Key was used before, for a request with another body.",
      },
      async handle({ exchange, owner, body: { value, fingerprint } }) {
        const key = idempotencyKeyOf(exchange.incoming, fingerprint);
        const earlier = key && (await responses.findRepeated(owner, key));
        if (earlier !== undefined) return repeat(exchange, owner, earlier, value);
        try {
          return await create(exchange, owner, value, key);
        } catch (error) {
          // It may be blocked by an identical request that came in between.
          const known = key && (await responses.findRepeated(owner, key));
          if (known === undefined || known === exchange.responseId || exchange.outgoing.headersSent)
            throw error;
          return repeat(exchange, owner, known, value);
        }
      },
    }),
    route({
      method: "GET",
      path: "/v1/responses",
      operationId: "listResponses",
      summary: "List stored responses.",
      query: listQuerySchema,
      reply: responseListSchema,
      handle: async ({ exchange, owner, query }) => {
        const page = await responses.list(owner, query);
        return { ...page, data: page.data.map(viewOf(exchange).response) };
      },
    }),
    route({
      method: "POST",
      path: "/v1/responses/input_tokens",
      operationId: "countInputTokens",
      summary: "Count the tokens that a request would send to the model.",
      body: inputTokensSchema,
      reply: inputTokensReplySchema,
      errors: { "404": noModel },
      handle: ({ owner, body }) => responses.countInputTokens(owner, body.value),
    }),
    route({
      method: "POST",
      path: "/v1/responses/compact",
      operationId: "compactResponse",
      summary: "Shorten a conversation to the user's messages and a sealed summary.",
      body: inputTokensSchema,
      reply: compactedResponseSchema,
      errors: { "404": noModel },
      handle: ({ exchange: { signal, incoming }, owner, body }) =>
        responses.compact(owner, body.value, signal, traceHeadersOf(incoming)),
    }),
    route({
      method: "GET",
      path: "/v1/responses/:id",
      ...ofResponse,
      operationId: "getResponse",
      summary: "Get a response, or follow its events.",
      query: retrieveQuerySchema,
      reply: responseSchema,
      events: streamEventSchema,
      handle: async ({ exchange, owner, params: { id }, query, isHead }) =>
        query.stream && !isHead
          ? follow(exchange, owner, id, query.starting_after ?? -1)
          : viewOf(exchange).response(await responses.get(owner, id)),
    }),
    route({
      method: "DELETE",
      path: "/v1/responses/:id",
      ...ofResponse,
      operationId: "deleteResponse",
      summary: "Delete a response with all that belongs to it.",
      reply: deletedResponseSchema,
      handle: ({ owner, params }) => responses.remove(owner, params.id),
    }),
    route({
      method: "POST",
      path: "/v1/responses/:id/cancel",
      ...ofResponse,
      operationId: "cancelResponse",
      summary: "Cancel a response that runs in the background.",
      reply: responseSchema,
      handle: async ({ exchange, owner, params }) =>
        viewOf(exchange).response(await responses.cancel(owner, params.id)),
    }),
    route({
      method: "GET",
      path: "/v1/responses/:id/input_items",
      ...ofResponse,
      operationId: "listInputItems",
      summary: "List the input items of a response.",
      query: pageQuerySchema,
      reply: itemListSchema,
      handle: ({ owner, params, query }) => responses.inputItems(owner, params.id, query),
    }),
    route({
      method: "GET",
      path: "/v1/responses/:id/trace",
      ...ofResponse,
      operationId: "getTrace",
      summary: "Get what happened in a run, and when; also while it works.",
      query: traceQuerySchema,
      reply: traceSchema,
      handle: ({ owner, params, query }) => responses.trace(owner, params.id, query),
    }),
    route({
      method: "GET",
      path: "/v1/runs",
      operationId: "listRuns",
      summary: "List stored responses in short, with filters and search.",
      query: runsQuerySchema,
      reply: runListSchema,
      handle: async ({ exchange, owner, query }) => {
        const page = await responses.listRuns(owner, query);
        const { response: show } = viewOf(exchange);
        const shown = page.data.map((run) => (run.response ? { ...run, response: show(run.response) } : run));
        return { ...page, data: shown };
      },
    }),
  ];
}
