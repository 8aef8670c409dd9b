// A row of the table of routes. The app, the OpenAPI document, and 405 with `Allow` are all made from that table.

import type { z } from "zod";
import type { Conversations } from "../run/conversations.ts";
import type { Files } from "../run/files.ts";
import type { Responses } from "../run/responses.ts";
import type { JsonBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";

/** What clients can do with responses; only the server drains them. */
export type ResponsesApi = Omit<Responses, "drain">;
export type ConversationsApi = Omit<Conversations, never>;
export type FilesApi = Omit<Files, never>;

/** A request to a route, validated as far as the route describes it. */
export interface RouteRequest<Query = unknown, Param extends string = string> {
  readonly exchange: Exchange;
  /** The authenticated owner. Public routes have none: there it throws. */
  readonly owner: string;
  readonly params: Readonly<Record<Param, string>>;
  readonly query: Query;
  /** The JSON body of a route that takes one. An optional body that did not come is `undefined`. */
  readonly body: JsonBody;
  /** Whether no body of a reply is wanted. */
  readonly isHead: boolean;
}

/** What the OpenAPI document says about a route. */
interface RouteDescription<Query extends z.ZodObject, Param extends string> {
  readonly method: "GET" | "POST" | "DELETE";
  /** With `:name` for a parameter, and `:name{.+}` for one with slashes. */
  readonly path: string;
  /** The parameters of the path, with their names in the OpenAPI document. */
  readonly params?: Readonly<Record<Param, string>>;
  readonly operationId: string;
  readonly summary: string;
  readonly query?: Query;
  /** The JSON body that it takes. It is read before `handle` is called, which validates it. */
  readonly body?: z.ZodType;
  /** Default: false. */
  readonly isBodyOptional?: boolean;
  /** Whether `handle` reads the text of the body too. Default: false. */
  readonly readsText?: boolean;
  /** The form that it takes, in place of `body` or of nothing. `handle` reads it. */
  readonly form?: z.ZodType;
  /** The headers that it reads. */
  readonly headers?: Readonly<Record<string, { description: string; schema: { type: string } }>>;
  /** The body of a 200 reply. A string is plain text. Default: none. */
  readonly reply?: z.ZodType;
  /** Whether a 200 reply is the content of a file, which `handle` sends. Default: false. */
  readonly isBinary?: boolean;
  /** The events of a 200 reply that is a stream. Default: it never is. */
  readonly events?: z.ZodType;
  /** Error replies besides the common ones, by status. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Whether it needs no key, and has no owner with limits. Default: false. */
  readonly isPublic?: boolean;
  /** Whether it is asked every few seconds, so that a success is logged only for debugging. Default: if it is public. */
  readonly isRoutine?: boolean;
}

export interface Route extends RouteDescription<z.ZodObject, string> {
  /** Returns the JSON of a 200 reply, or undefined if it has replied itself. Throws for all other replies. */
  handle(request: RouteRequest): Promise<unknown>;
}

/** Defines a route whose handler gets the query and the parameters with their types. */
export function route<Query extends z.ZodObject, Param extends string = never>(
  definition: RouteDescription<Query, Param> & {
    handle(request: RouteRequest<z.infer<Query>, Param>): Promise<unknown>;
  },
): Route {
  return definition;
}

/** Error replies of routes that call a model. */
export const modelErrors = {
  "404": "There is no such model.",
  "429": "The owner has too much in flight, or the model server is overloaded.",
  "502": "The model failed.",
  "504": "The model was too slow.",
};
