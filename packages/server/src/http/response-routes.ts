// The routes of the Responses API.

import type { HonoRequest } from "hono";
import { listQuerySchema, pageQuerySchema, parseQuery, retrieveQuerySchema } from "../protocol/query.ts";
import type { RepeatKey } from "../run/repeat.ts";
import { readJson, readJsonText } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { repeatKeyOf } from "./repeat-key.ts";
import { ownerOf, queryOf, type ResponsesApi, type Route } from "./route.ts";
import { answerStream, type StreamOptions } from "./stream.ts";

export interface ResponseRoutesOptions extends StreamOptions {
  responses: ResponsesApi;
  /** The largest body that is read. */
  bodyBytes: number;
}

export function responseRoutes(options: ResponseRoutesOptions): Route[] {
  const { responses, bodyBytes } = options;

  const follow = (exchange: Exchange, id: string, startingAfter: number) => {
    exchange.isFollowing = true;
    return answerStream(
      exchange,
      options,
      (sink, signal) => responses.follow(ownerOf(exchange), id, startingAfter, sink, signal),
      startingAfter + 1,
    );
  };

  /** Gives the response of the same request once more. That one was checked, so `body` is right. */
  const repeat = async (exchange: Exchange, id: string, body: unknown) => {
    exchange.responseId = id;
    if ((body as { stream?: unknown }).stream === true) await follow(exchange, id, -1);
    else exchange.json(200, await responses.repeat(ownerOf(exchange), id, exchange.signal));
  };

  const create = async (exchange: Exchange, body: unknown, repeatKey: RepeatKey | undefined) => {
    const prepared = await responses.prepare(ownerOf(exchange), body, ...(repeatKey ? [{ repeatKey }] : []));
    const { stream, background, model } = prepared.request;
    exchange.responseId = prepared.id;
    exchange.model = model;
    if (background) {
      // With a key, it may be the response of the same request that came first.
      const queued = await responses.enqueue(prepared);
      exchange.responseId = queued.id;
      if (stream) await follow(exchange, queued.id, -1);
      else exchange.json(200, queued);
    } else if (stream) {
      await answerStream(exchange, options, (sink, signal) => responses.runStreamed(prepared, sink, signal));
    } else {
      exchange.json(200, await responses.runPlain(prepared, exchange.signal));
    }
  };

  return [
    {
      method: "POST",
      path: "/v1/responses",
      async handle(exchange) {
        const { text, value } = await readJsonText(exchange.incoming, bodyBytes);
        const repeatKey = repeatKeyOf(exchange.incoming, text);
        if (repeatKey) {
          const known = await responses.findRepeated(ownerOf(exchange), repeatKey);
          if (known !== undefined) return repeat(exchange, known, value);
        }
        try {
          await create(exchange, value, repeatKey);
        } catch (error) {
          // What stands in its way may be the same request, which came in between.
          const known = repeatKey && (await responses.findRepeated(ownerOf(exchange), repeatKey));
          if (known === undefined || known === exchange.responseId || exchange.outgoing.headersSent)
            throw error;
          await repeat(exchange, known, value);
        }
      },
    },
    {
      method: "GET",
      path: "/v1/responses",
      async handle(exchange, request) {
        exchange.json(
          200,
          await responses.list(ownerOf(exchange), parseQuery(listQuerySchema, queryOf(request))),
        );
      },
    },
    {
      method: "POST",
      path: "/v1/responses/input_tokens",
      async handle(exchange) {
        const body = await readJson(exchange.incoming, bodyBytes);
        exchange.json(200, await responses.countInputTokens(ownerOf(exchange), body));
      },
    },
    {
      method: "POST",
      path: "/v1/responses/compact",
      async handle(exchange) {
        const body = await readJson(exchange.incoming, bodyBytes);
        exchange.json(200, await responses.compact(ownerOf(exchange), body, exchange.signal));
      },
    },
    {
      method: "GET",
      path: "/v1/responses/:id",
      async handle(exchange, request) {
        const id = idOf(exchange, request);
        const query = parseQuery(retrieveQuerySchema, queryOf(request));
        if (query.stream && request.method !== "HEAD") await follow(exchange, id, query.starting_after ?? -1);
        else exchange.json(200, await responses.get(ownerOf(exchange), id));
      },
    },
    {
      method: "DELETE",
      path: "/v1/responses/:id",
      async handle(exchange, request) {
        exchange.json(200, await responses.remove(ownerOf(exchange), idOf(exchange, request)));
      },
    },
    {
      method: "POST",
      path: "/v1/responses/:id/cancel",
      async handle(exchange, request) {
        exchange.json(200, await responses.cancel(ownerOf(exchange), idOf(exchange, request)));
      },
    },
    {
      method: "GET",
      path: "/v1/responses/:id/input_items",
      async handle(exchange, request) {
        const id = idOf(exchange, request);
        const query = parseQuery(pageQuerySchema, queryOf(request));
        exchange.json(200, await responses.inputItems(ownerOf(exchange), id, query));
      },
    },
  ];
}

function idOf(exchange: Exchange, request: HonoRequest): string {
  const id = request.param("id") ?? "";
  exchange.responseId = id;
  return id;
}
