// What a route is. The table of routes is data, so that 405 and `Allow` come from the same place.

import type { HonoRequest } from "hono";
import type { Conversations } from "../run/conversations.ts";
import type { Responses } from "../run/responses.ts";
import type { Exchange } from "./exchange.ts";

/** What clients can do with responses; the server alone drains them. */
export type ResponsesApi = Omit<Responses, "drain">;
export type ConversationsApi = Omit<Conversations, never>;

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `:name` for parts that vary, as Hono has it. */
  readonly path: string;
  /** Whether it needs no key. Default: false. */
  readonly isPublic?: boolean;
  /** Answers the exchange, or throws. */
  handle(exchange: Exchange, request: HonoRequest): Promise<void>;
}

/** The owner of a request to a route that is not public. */
export function ownerOf({ owner }: Exchange): string {
  if (owner === undefined) throw new Error("This route is not public, but the request has no owner.");
  return owner;
}

/** The query of a request. */
export function queryOf({ url }: HonoRequest): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}
