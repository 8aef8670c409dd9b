// Opens WebSocket connections on `/v1/responses`, under the same rules as requests: the browser's, a key, and
// nothing new while the server stops. Knows all that are open.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ApiError, invalidRequest, notFound, tooManyRequests } from "../../protocol/api-error.ts";
import type { Authenticate, Caller } from "../auth.ts";
import { type BrowserGuard, browserGuard } from "../browser-guard.ts";
import { replyWithError, stopping } from "../errors.ts";
import { Exchange } from "../exchange.ts";
import { GuardedResponse, headerLines } from "../guarded-response.ts";
import { requestId } from "../request-id.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { SharedMemory } from "./memory.ts";

export interface WebSocketsOptions extends ConnectionSettings {
  /** Says who asks. Throws a 401. */
  readonly authenticate: Authenticate;
  /** The largest frame. */
  readonly bodyBytes: number;
  /** Web pages that may call; `*` for all. */
  readonly origins: readonly string[];
  readonly isOpenOnLoopback: boolean;
  /** How many connections may be open in all. */
  readonly connections: number;
  /** How many of one owner. */
  readonly connectionsPerOwner: number;
}

const path = "/v1/responses";

// Of one message. Clients split large ones, and none as finely as this.
const mostFragments = 16_384;

/** What the connections of an owner are and keep together. */
interface OwnerShare extends SharedMemory {
  connections: number;
}

interface Admitted extends Caller {
  readonly stream: Duplex;
  readonly exchange: Exchange;
}

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #guard: BrowserGuard;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<Connection>();
  /** Only of owners that have connections. */
  readonly #shares = new Map<string, OwnerShare>();
  readonly #exchanges = new WeakMap<IncomingMessage, Exchange>();
  #isDraining = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: WebSocketsOptions) {
    this.#options = options;
    this.#guard = browserGuard(options);
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Events are small and many; packing each costs more than it saves.
      perMessageDeflate: false,
      maxPayload: options.bodyBytes,
      maxFragments: mostFragments,
      // Ours are limited: a client that does not read its pongs must not make the server keep them.
      autoPong: false,
    });
    this.#server.on("headers", (headers, incoming) => {
      headers.push(`x-request-id: ${this.#exchanges.get(incoming)?.id}`, ...headerLines);
    });
    this.#server.on("wsClientError", ({ message }, socket, incoming) => {
      const exchange = this.#exchanges.get(incoming);
      const problem = invalidRequest(null, `The request cannot open a WebSocket: ${message}.`);
      if (exchange) this.#refuse(problem, exchange, socket);
    });
  }

  /** Whether a request wants to open a WebSocket; others that ask for an upgrade are served as they are. */
  readonly isWanted = ({ headers: { upgrade } }: IncomingMessage): boolean =>
    upgrade?.trim().toLowerCase() === "websocket";

  /** Takes a request that wants to. */
  readonly open = (incoming: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const id = requestId(incoming.headers["x-request-id"]);
    const outgoing = new GuardedResponse(incoming);
    const exchange = new Exchange({ incoming, outgoing, id, route: path, headers: { "x-request-id": id } });
    this.#exchanges.set(incoming, exchange);
    // Until the connection is open, nobody else listens.
    const onError = () => stream.destroy();
    stream.on("error", onError);
    void this.#admit(exchange)
      .finally(() => stream.off("error", onError))
      .then((caller) => {
        this.#checkCount(caller.owner);
        return this.#server.handleUpgrade(incoming, stream, head, (socket) =>
          this.#connect(socket, { stream, ...caller, exchange }),
        );
      })
      .catch((error: unknown) => this.#refuse(error, exchange, stream));
  };

  /** Takes no more connections, and closes those that are open when their response has ended. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Ends what runs on all connections, or only what goes on without them. */
  stop(reason: Error, options?: { onlyFollowing?: boolean }): void {
    for (const connection of this.#connections) connection.stop(reason, options);
  }

  /** Cuts all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Resolves when no connection is open. */
  async whenIdle(): Promise<void> {
    if (this.#connections.size === 0) return;
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  /** Gives who asks, or throws why it may not. */
  async #admit({ incoming }: Exchange): Promise<Caller> {
    this.#guard.check(incoming);
    const [asked = ""] = (incoming.url ?? "").split("?", 1);
    if (asked.replace(/\/$/, "") !== path)
      throw notFound(`There is no WebSocket ${asked.slice(0, 200)} here. It is ${path}.`, "unknown_path");
    const caller = await this.#options.authenticate(incoming.headers);
    if (this.#isDraining) throw stopping();
    return caller;
  }

  /** Throws when there are as many connections as there may be. */
  #checkCount(owner: string): void {
    const { connections, connectionsPerOwner } = this.#options;
    if ((this.#shares.get(owner)?.connections ?? 0) >= connectionsPerOwner)
      throw tooManyRequests(
        `You have ${connectionsPerOwner} WebSocket connections, this server's limit for one owner (webSocket.connectionsPerOwner). Close one of them.`,
      );
    if (this.#connections.size >= connections) throw serverBusy();
  }

  #join(owner: string): OwnerShare {
    const share = this.#shares.get(owner) ?? { connections: 0, bytes: 0 };
    share.connections += 1;
    this.#shares.set(owner, share);
    return share;
  }

  #connect(socket: WebSocket, given: Admitted): void {
    const { exchange, owner } = given;
    exchange.owner = owner;
    this.#count(exchange, 101);
    const { expiresAtMs } = given;
    const shared = this.#join(owner);
    const connection = new Connection({ ...this.#options, socket, ...given, expiresAtMs, shared });
    this.#connections.add(connection);
    socket.once("close", () => {
      this.#connections.delete(connection);
      shared.connections -= 1;
      if (shared.connections === 0) this.#shares.delete(owner);
      this.#log(exchange, 101);
      if (this.#connections.size === 0) this.#idle?.resolve();
    });
    if (this.#isDraining) connection.drain();
  }

  #refuse(error: unknown, exchange: Exchange, stream: Duplex): void {
    const { outgoing } = exchange;
    const end = () => stream.end(() => stream.destroy());
    if (stream.destroyed) return;
    stream.on("error", () => stream.destroy());
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(stream as Parameters<ServerResponse["assignSocket"]>[0]);
    outgoing.once("finish", end);
    replyWithError(error, exchange, this.#options.logger);
    this.#count(exchange, outgoing.statusCode);
    this.#log(exchange, outgoing.statusCode);
  }

  #count({ startedAtMs }: Exchange, status: number): void {
    this.#options.metrics.requestEnded(path, "GET", status, (performance.now() - startedAtMs) / 1000);
  }

  #log(exchange: Exchange, status: number): void {
    const { startedAtMs, id, owner } = exchange;
    const ms = performance.now() - startedAtMs;
    this.#options.logger.info("request", {
      method: "GET",
      path,
      status,
      ms: Math.round(ms * 10) / 10,
      requestId: id,
      owner,
      isWebSocket: true,
    });
  }
}

function serverBusy(): ApiError {
  return new ApiError("The server has as many WebSocket connections as it may have. Try again later.", {
    status: 503,
    type: "server_error",
    code: "too_many_connections",
    retryAfterMs: 5000,
  });
}
