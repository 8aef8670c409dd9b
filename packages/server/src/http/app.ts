// Answers requests by the table of routes. Each passes one wrapper, with what all routes need: a request id, the browser
// guard, authentication, the query and the body, error replies, and a log line.

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { ApiError, invalidRequest, notFound } from "../protocol/api-error.ts";
import { parseQuery } from "../protocol/query.ts";
import type { Authenticate, Caller } from "./auth.ts";
import { hasBody, type JsonBody, readJson } from "./body.ts";
import { type BrowserGuard, browserGuard } from "./browser-guard.ts";
import { replyWithError, stopping } from "./errors.ts";
import { ClientLeft, clientGone, Exchange, Exchanges } from "./exchange.ts";
import { isForm } from "./multipart.ts";
import type { OwnerLimits } from "./owner-limits.ts";
import type { RequestAudit } from "./request-audit.ts";
import { requestId } from "./request-id.ts";
import type { Route, RouteRequest } from "./route.ts";
import { type PathParams, Router } from "./router.ts";
import { allRoutes, type RoutesOptions } from "./routes.ts";

export interface AppOptions extends Omit<RoutesOptions, "keepAliveMs" | "exchanges"> {
  /** Identifies the caller. Throws a 401. */
  authenticate: Authenticate;
  /** The largest body of a request. Default: 10,000,000. */
  bodyBytes?: number;
  /** How long a stream may be silent before it gets a comment. Default: 15,000. */
  keepAliveMs?: number;
  /** Origins of web pages that may call; `*` for all. Default: none. */
  origins?: readonly string[];
  /** Whether the server listens on loopback only and requires no key: then foreign web pages are rejected. */
  isOpenOnLoopback: boolean;
  /** The open exchanges. Default: a new set. */
  exchanges?: Exchanges;
  /** Limits of what an owner may have in flight. Default: none. */
  ownerLimits?: OwnerLimits;
  /** The audit log. Default: none. */
  audit?: RequestAudit | undefined;
  /** Whether clients can use it. If not, it has only the routes of health and metrics. Default: true. */
  servesApi?: boolean;
}

/** The listener for the requests of a server. */
export function createApp(options: AppOptions): RequestListener {
  const { bodyBytes = 10_000_000, keepAliveMs = 15_000, exchanges = new Exchanges() } = options;
  const settled = { ...options, bodyBytes, keepAliveMs, exchanges };
  const guard = browserGuard(options);
  const wrap = wrapper(settled, guard);
  const router = new Router<Answer>();
  for (const route of allRoutes(settled))
    if (options.servesApi !== false || isHealthRoute(route))
      router.add(
        route.method,
        route.path,
        wrap(route, async (exchange, target, params) => {
          const asked = toRouteRequest(route, exchange, target, params, bodyBytes);
          const reply = await route.handle(asked instanceof Promise ? await asked : asked);
          if (reply !== undefined) exchange.json(200, reply);
        }),
      );
  const other = wrap({ path: "other", isPublic: true }, otherRequests(router, guard, options.servesApi));
  return (incoming, outgoing) => {
    const target = targetOf(incoming);
    const { value: answer = other, params = {} } = router.find(target.method, target.path) ?? {};
    answer(incoming, outgoing, target, params).catch((error: unknown) => {
      options.logger.error("A request failed.", {}, error);
      outgoing.destroy();
    });
  };
}

/** What a request asks for. */
interface Target {
  readonly method: string;
  /** As it came, without the query. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
}

function targetOf({ method = "", url = "" }: IncomingMessage): Target {
  const given = url.startsWith("/") ? url : withoutOrigin(url);
  const end = given.indexOf("?");
  return end < 0
    ? { method, path: given, query: "" }
    : { method, path: given.slice(0, end), query: given.slice(end + 1) };
}

/** Proxies may send the whole URL. Anything else is left as it is, and fits no route. */
function withoutOrigin(url: string): string {
  const rest = /^https?:\/\/[^/?#]+(.*)$/i.exec(url)?.[1];
  if (rest === undefined) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function isHealthRoute({ path }: Route): boolean {
  return ["/healthz", "/readyz", "/metrics"].includes(path);
}

type Handle = (exchange: Exchange, target: Target, params: PathParams) => void | Promise<void>;

type Answer = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: Target,
  params: PathParams,
) => Promise<void>;

function wrapper(options: AppOptions & { exchanges: Exchanges }, guard: BrowserGuard) {
  const { authenticate, exchanges, ownerLimits, audit, logger } = options;
  return (route: Pick<Route, "path" | "isPublic" | "isRoutine">, handle: Handle): Answer => {
    const { isPublic = false, isRoutine = isPublic } = route;
    return async (incoming, outgoing, target, params) => {
      const id = requestId(incoming.headers["x-request-id"]);
      const headers: Record<string, string> = { "x-request-id": id };
      const exchange = new Exchange({ incoming, outgoing, id, route: route.path, headers });
      exchanges.add(exchange, () => finished(exchange, { isPublic, isRoutine }, options));
      try {
        guard.addHeaders(incoming, headers);
        guard.check(incoming);
        if (!isPublic) {
          if (exchanges.isDraining) throw stopping();
          const caller = await authenticate(incoming.headers);
          exchange.owner = caller.owner;
          exchange.keyId = caller.keyId;
          admit(exchange, caller, ownerLimits);
          // Pages ask again and again how the server does: nobody looks for that.
          if (audit && !isRoutine) {
            exchange.audited = audit.begin(exchange, params);
            await exchange.audited.written;
          }
        }
        await handle(exchange, target, params);
      } catch (error) {
        replyWithError(error, exchange, logger);
      }
    };
  };
}

function toRouteRequest(
  route: Route,
  exchange: Exchange,
  target: Target,
  params: PathParams,
  bodyBytes: number,
): RouteRequest | Promise<RouteRequest> {
  const { incoming } = exchange;
  if (route.params?.["id"] === "response_id") exchange.responseId = params["id"];
  const takesBody =
    route.body !== undefined &&
    (!route.isBodyOptional || hasBody(incoming)) &&
    !(route.form && isForm(incoming));
  const withBody = (body: JsonBody): RouteRequest => {
    const query = route.query && parseQuery(route.query, new URLSearchParams(target.query));
    return new ParsedRequest(exchange, params, query, body, target.method === "HEAD");
  };
  return takesBody
    ? readJson(incoming, {
        limitBytes: bodyBytes,
        meter: exchange.slot,
        keepsText: route.readsText,
      }).then(withBody)
    : withBody(noBody);
}

const noBody: JsonBody = { value: undefined };

class ParsedRequest implements RouteRequest {
  readonly exchange: Exchange;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: JsonBody;
  readonly isHead: boolean;

  constructor(
    exchange: Exchange,
    params: Readonly<Record<string, string>>,
    query: unknown,
    body: JsonBody,
    isHead: boolean,
  ) {
    this.exchange = exchange;
    this.params = params;
    this.query = query;
    this.body = body;
    this.isHead = isHead;
  }

  get owner(): string {
    if (this.exchange.owner === undefined)
      throw new Error("This route is not public, but the request has no owner.");
    return this.exchange.owner;
  }
}

// The longest delay of a timer; above it, timers fire at once.
const longestMs = 2 ** 31 - 1;

/** Counts an exchange towards the limits of its owner until it ends. Throws a 429 at the limit. */
function admit(
  exchange: Exchange,
  { owner, expiresAtMs = Infinity }: Caller,
  limits: OwnerLimits | undefined,
): void {
  const slot = limits?.enter(owner);
  if (slot) exchange.occupy(slot);
  const validMs = expiresAtMs - Date.now();
  if (validMs > longestMs) return;
  // A run that has begun may finish; following one could go on for ever.
  const expire = () => exchange.isFollowing && exchange.stop(new ClientLeft("The token has expired."));
  const timer = setTimeout(expire, validMs);
  exchange.onEnd(() => clearTimeout(timer));
}

function finished(
  exchange: Exchange,
  { isPublic, isRoutine }: { isPublic: boolean; isRoutine: boolean },
  { logger, metrics, audit }: AppOptions,
): void {
  const { outgoing, route, owner, audited, errorCode: error } = exchange;
  const fields = exchange.logFields(outgoing.headersSent ? outgoing.statusCode : clientGone);
  metrics.requestEnded(route, fields.method, fields.status, fields.ms / 1000);
  const isCut = outgoing.headersSent && !outgoing.writableFinished ? true : undefined;
  // Health checks come every few seconds.
  const level = isRoutine && fields.status < 500 ? "debug" : "info";
  logger[level]("request", { ...fields, isCut });
  const { status, ms } = fields;
  if (audited) audited.ended({ status, error, ms });
  else if (!isPublic && status >= 400 && status !== clientGone && !(isRoutine && owner !== undefined))
    audit?.denied(exchange, status);
}

/** Handles what no route does: preflights, wrong methods and unknown paths. */
function otherRequests(router: Router<Answer>, guard: BrowserGuard, servesApi = true): Handle {
  return (exchange, { method, path }) => {
    if (!path.startsWith("/"))
      throw invalidRequest(null, `The URL of the request is invalid: expected a path, got "${path}".`);
    const methods = router.methodsOf(path);
    if (methods.length === 0) throw noSuchPath(method, path, servesApi);
    const all = new Set<string>([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"]);
    const allow = [...all].join(", ");
    if (method === "OPTIONS") {
      const headers = { ...exchange.headers, ...guard.preflight(exchange.incoming), allow };
      exchange.outgoing.writeHead(204, headers).end();
      return;
    }
    exchange.headers["allow"] = allow;
    throw new ApiError(`${path} does not take ${method}. It takes ${allow}.`, {
      status: 405,
      code: "method_not_allowed",
    });
  };
}

function noSuchPath(method: string, path: string, servesApi: boolean): ApiError {
  if (!servesApi)
    return notFound(
      `There is no ${method} ${path} here: this is a worker, with /healthz, /readyz and /metrics only. Send requests to a server (rondo serve).`,
      "unknown_path",
    );
  const hint = /^\/(?:responses|conversations|containers|files|models|chat|completions|embeddings)\b/.test(
    path,
  )
    ? ` Did you mean /v1${path}? The base URL ends with /v1.`
    : " GET /openapi.json describes all paths.";
  return notFound(`There is no ${method} ${path} here.${hint}`, "unknown_path");
}
