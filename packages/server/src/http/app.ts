// The routes as one Hono app. Each request passes one wrapper, which knows what all of them need: an id, the
// browser's rules, a key, errors as answers, and a line in the log.

import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { JsonObject } from "rondo";
import { ApiError, notFound } from "../protocol/api-error.ts";
import type { UrlRules } from "../protocol/input-urls.ts";
import type { Authenticate, Caller } from "./auth.ts";
import { meterBody } from "./body.ts";
import { type BrowserGuard, browserGuard } from "./browser-guard.ts";
import { type ChatRoutesOptions, chatRoutes } from "./chat/chat-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { answerError, stopping } from "./errors.ts";
import { Exchange, Exchanges } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { OwnerLimits } from "./owner-limits.ts";
import { requestId } from "./request-id.ts";
import { responseRoutes } from "./response-routes.ts";
import type { ConversationsApi, ResponsesApi, Route } from "./route.ts";
import { serverRoutes } from "./server-routes.ts";

export interface AppOptions {
  responses: ResponsesApi;
  conversations: ConversationsApi;
  /** Finds the models of chat requests. */
  models: ChatRoutesOptions["models"];
  /** Says who asks. Throws a 401. */
  authenticate: Authenticate;
  logger: Logger;
  metrics: Metrics;
  /** Makes the OpenAPI document. */
  openapi: () => JsonObject;
  /** The largest body of a request. Default: 10,000,000. */
  bodyBytes?: number;
  /** After how much silence a stream gets a comment. Default: 15,000. */
  keepAliveMs?: number;
  /** Web pages that may call; `*` for all. Default: none. */
  origins?: readonly string[];
  /** Whether the server listens on loopback only and asks for no key: then foreign web pages are refused. */
  isOpenOnLoopback: boolean;
  /** Which URLs chat requests may have. Default: those of public hosts. */
  urls?: UrlRules;
  /** Those that are open. Default: a new set. */
  exchanges?: Exchanges;
  /** What an owner may have under way. Default: no limits. */
  ownerLimits?: OwnerLimits;
}

type App = Hono<{ Bindings: HttpBindings }>;

/** The app. It writes its answers itself, so it needs the adapter for Node. */
export function createApp(options: AppOptions): App {
  const { bodyBytes = 10_000_000, keepAliveMs = 15_000, exchanges = new Exchanges() } = options;
  const settled = { ...options, bodyBytes, keepAliveMs, exchanges };
  const routes = [
    ...responseRoutes(settled),
    ...conversationRoutes(settled),
    ...chatRoutes(settled),
    ...serverRoutes(settled),
  ];
  const wrap = wrapper(settled, browserGuard(options));
  const app: App = new Hono({ strict: false });
  for (const route of routes) app.on(route.method, route.path, wrap(route));
  app.notFound(wrap(otherRoute(routes, browserGuard(options))));
  return app;
}

function wrapper(options: AppOptions & { exchanges: Exchanges }, guard: BrowserGuard) {
  const { authenticate, logger, metrics, exchanges, ownerLimits } = options;
  return (route: Route | Omit<Route, "method">) => async (context: Context<{ Bindings: HttpBindings }>) => {
    const { incoming, outgoing } = context.env;
    const id = requestId(incoming.headers["x-request-id"]);
    const headers: Record<string, string> = { "x-request-id": id };
    guard.addHeaders(incoming, headers);
    const exchange = new Exchange({ incoming, outgoing, id, route: route.path, headers });
    exchanges.add(exchange, () => finished(exchange, route.isPublic === true, logger, metrics));
    try {
      guard.check(incoming);
      if (!route.isPublic) {
        if (exchanges.isDraining) throw stopping();
        const caller = await authenticate(incoming.headers);
        exchange.owner = caller.owner;
        admit(exchange, caller, ownerLimits);
      }
      await route.handle(exchange, context.req);
    } catch (error) {
      answerError(error, exchange, logger);
    }
    return RESPONSE_ALREADY_SENT;
  };
}

// What timers can hold; above it they would fire at once.
const longestMs = 2 ** 31 - 1;

/** Gives an exchange its place among those of its owner, until it ends. Throws a 429 when there is none. */
function admit(
  exchange: Exchange,
  { owner, expiresAtMs = Infinity }: Caller,
  limits: OwnerLimits | undefined,
): void {
  const slot = limits?.enter(owner);
  if (slot) {
    exchange.occupy(slot);
    meterBody(exchange.incoming, slot);
  }
  const validMs = expiresAtMs - Date.now();
  if (validMs > longestMs) return;
  // A run that has begun may end; following one could go on for as long as there are runs.
  const expire = () => exchange.isFollowing && exchange.stop(new Error("The token has expired."));
  const timer = setTimeout(expire, validMs);
  exchange.onEnd(() => clearTimeout(timer));
}

function finished(exchange: Exchange, isPublic: boolean, logger: Logger, metrics: Metrics): void {
  const { incoming, outgoing, route, id, owner, responseId, model } = exchange;
  // 499 is what others write when the client has left before there was an answer.
  const status = outgoing.headersSent ? outgoing.statusCode : 499;
  const ms = performance.now() - exchange.startedAtMs;
  const method = incoming.method ?? "";
  metrics.requestEnded(route, method, status, ms / 1000);
  // The query is left out: nobody knows what clients put there.
  const path = (incoming.url ?? "").split("?", 1)[0]?.slice(0, 200);
  const isCut = outgoing.headersSent && !outgoing.writableFinished ? true : undefined;
  const fields = {
    method,
    path,
    status,
    ms: Math.round(ms * 10) / 10,
    requestId: id,
    owner,
    responseId,
    model,
    isCut,
  };
  // Probes come every few seconds.
  if (isPublic && status < 500) logger.debug("request", fields);
  else logger.info("request", fields);
}

/** What is left: preflights, wrong methods and paths that do not exist. */
function otherRoute(routes: readonly Route[], guard: BrowserGuard): Omit<Route, "method"> {
  const known = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/:\w+\{\.\+\}/g, ".+").replace(/:\w+/g, "[^/]+")}/?$`),
  }));
  return {
    path: "other",
    isPublic: true,
    async handle(exchange, request) {
      const methods = known.filter(({ pattern }) => pattern.test(request.path)).map(({ method }) => method);
      if (methods.length === 0) throw noSuchPath(request.method, request.path);
      const all = new Set<string>([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"]);
      const allow = [...all].join(", ");
      if (request.method === "OPTIONS") {
        exchange.outgoing
          .writeHead(204, { ...exchange.headers, ...guard.preflight(exchange.incoming), allow })
          .end();
        return;
      }
      exchange.headers["allow"] = allow;
      throw new ApiError(`${request.path} does not take ${request.method}. It takes ${allow}.`, {
        status: 405,
        type: "invalid_request_error",
        code: "method_not_allowed",
      });
    },
  };
}

function noSuchPath(method: string, path: string): ApiError {
  const hint = /^\/(?:responses|conversations|models|chat)\b/.test(path)
    ? ` Did you mean /v1${path}? The base URL ends with /v1.`
    : "";
  return notFound(`There is no ${method} ${path} here.${hint}`, "unknown_path");
}
