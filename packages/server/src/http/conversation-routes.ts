// The routes of conversations and their items.

import type { HonoRequest } from "hono";
import { pageQuerySchema, parseQuery } from "../protocol/query.ts";
import { hasBody, readJson } from "./body.ts";
import { type ConversationsApi, ownerOf, queryOf, type Route } from "./route.ts";

export interface ConversationRoutesOptions {
  conversations: ConversationsApi;
  /** The largest body that is read. */
  bodyBytes: number;
}

export function conversationRoutes({ conversations, bodyBytes }: ConversationRoutesOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/v1/conversations",
      async handle(exchange) {
        const { incoming } = exchange;
        const body = hasBody(incoming) ? await readJson(incoming, bodyBytes) : undefined;
        exchange.json(200, await conversations.create(ownerOf(exchange), body));
      },
    },
    {
      method: "GET",
      path: "/v1/conversations/:id",
      async handle(exchange, request) {
        exchange.json(200, await conversations.get(ownerOf(exchange), part(request, "id")));
      },
    },
    {
      method: "POST",
      path: "/v1/conversations/:id",
      async handle(exchange, request) {
        const body = await readJson(exchange.incoming, bodyBytes);
        exchange.json(200, await conversations.update(ownerOf(exchange), part(request, "id"), body));
      },
    },
    {
      method: "DELETE",
      path: "/v1/conversations/:id",
      async handle(exchange, request) {
        exchange.json(200, await conversations.remove(ownerOf(exchange), part(request, "id")));
      },
    },
    {
      method: "POST",
      path: "/v1/conversations/:id/items",
      async handle(exchange, request) {
        const body = await readJson(exchange.incoming, bodyBytes);
        exchange.json(200, await conversations.addItems(ownerOf(exchange), part(request, "id"), body));
      },
    },
    {
      method: "GET",
      path: "/v1/conversations/:id/items",
      async handle(exchange, request) {
        const query = parseQuery(pageQuerySchema, queryOf(request));
        exchange.json(200, await conversations.items(ownerOf(exchange), part(request, "id"), query));
      },
    },
    {
      method: "GET",
      path: "/v1/conversations/:id/items/:item",
      async handle(exchange, request) {
        const [id, item] = [part(request, "id"), part(request, "item")];
        exchange.json(200, await conversations.item(ownerOf(exchange), id, item));
      },
    },
    {
      method: "DELETE",
      path: "/v1/conversations/:id/items/:item",
      async handle(exchange, request) {
        const [id, item] = [part(request, "id"), part(request, "item")];
        exchange.json(200, await conversations.removeItem(ownerOf(exchange), id, item));
      },
    },
  ];
}

function part(request: HonoRequest, name: "id" | "item"): string {
  return request.param(name) ?? "";
}
