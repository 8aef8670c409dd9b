// Opens WebSocket connections on `/v1/responses` under the rules of requests (browser guard, key, none while the server
// stops), and tracks the open ones.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { ApiError, invalidRequest, notFound, tooManyRequests } from "../../protocol/api-error.ts";
import type { Authenticate, Caller } from "../auth.ts";
import { type BrowserGuard, browserGuard } from "../browser-guard.ts";
import { replyWithError, stopping } from "../errors.ts";
import { clientGone, Exchange } from "../exchange.ts";
import { GuardedResponse, headerLines } from "../guarded-response.ts";
import { requestId } from "../request-id.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";
import type { OwnerBytes } from "./recent-responses.ts";

export interface WebSocketsOptions extends ConnectionSettings {
  /** Identifies the caller. Throws a 401. */
  readonly authenticate: Authenticate;
  /** The largest frame. */
  readonly bodyBytes: number;
  /** Origins of web pages that may call; `*` for all. */
  readonly origins: readonly string[];
  readonly isOpenOnLoopback: boolean;
  /** How many connections may be open. */
  readonly connections: number;
  /** How many of one owner may be open. */
  readonly connectionsPerOwner: number;
}

const path = "/v1/responses";

// Of one message. No client splits messages this finely.
const maxFragments = 16_384;

/** The connections of an owner, and the bytes that they keep. */
interface OwnerShare extends OwnerBytes {
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
      // Events are small and many: compressing each costs more than it saves.
      perMessageDeflate: false,
      maxPayload: options.bodyBytes,
      maxFragments,
      // Pongs are limited here: for a client that does not read, they would pile up.
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

  /** Whether a request asks for a WebSocket; other upgrades are served as plain requests. */
  readonly isWanted = ({ headers: { upgrade } }: IncomingMessage): boolean =>
    upgrade?.trim().toLowerCase() === "websocket";

  /** Opens the connection that a request asks for. */
  readonly open = (incoming: IncomingMessage, stream: Duplex, head: Buffer): void => {
    const id = requestId(incoming.headers["x-request-id"]);
    const outgoing = new GuardedResponse(incoming);
    const exchange = new Exchange({ incoming, outgoing, id, route: path, headers: { "x-request-id": id } });
    this.#exchanges.set(incoming, exchange);
    // Until the connection is open, nothing else listens.
    const onError = () => stream.destroy();
    stream.on("error", onError);
    let isConnected = false;
    stream.once("close", () => {
      const { status, ms } = exchange.logFields(isConnected ? 101 : sentStatus(exchange));
      exchange.audited?.ended({ status, error: exchange.errorCode, ms });
    });
    void this.#admit(exchange)
      .finally(() => stream.off("error", onError))
      .then((caller) => {
        this.#checkCount(caller.owner);
        return this.#server.handleUpgrade(incoming, stream, head, (socket) => {
          isConnected = true;
          this.#connect(socket, { stream, ...caller, exchange });
        });
      })
      .catch((error: unknown) => this.#refuse(error, exchange, stream));
  };

  /** Accepts no more connections, and closes the open ones when their response ends. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Aborts the requests of all connections, or only those that follow a background run. */
  stop(reason: Error, options?: { onlyFollowing?: boolean }): void {
    for (const connection of this.#connections) connection.stop(reason, options);
  }

  /** Terminates all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Resolves when no connection is open. */
  async whenIdle(): Promise<void> {
    if (this.#connections.size === 0) return;
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  /** The caller. Throws if it may not connect. */
  async #admit(exchange: Exchange): Promise<Caller> {
    const { incoming } = exchange;
    this.#guard.check(incoming);
    const [asked = ""] = (incoming.url ?? "").split("?", 1);
    if (asked.replace(/\/$/, "") !== path)
      throw notFound(`There is no WebSocket ${asked.slice(0, 200)} here. It is ${path}.`, "unknown_path");
    const caller = await this.#options.authenticate(incoming.headers);
    exchange.owner = caller.owner;
    exchange.keyId = caller.keyId;
    if (this.#isDraining) throw stopping();
    exchange.audited = this.#options.audit?.begin(exchange);
    if (exchange.audited) await exchange.audited.written;
    return caller;
  }

  /** Throws when the limit of connections is reached. */
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
    this.#count(exchange, 101);
    const { expiresAtMs } = given;
    const share = this.#join(owner);
    const connection = new Connection({ ...this.#options, socket, ...given, expiresAtMs, ownerBytes: share });
    this.#connections.add(connection);
    socket.once("close", () => {
      this.#connections.delete(connection);
      share.connections -= 1;
      if (share.connections === 0) this.#shares.delete(owner);
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
    const { statusCode: status } = outgoing;
    this.#count(exchange, status);
    this.#log(exchange, status);
    if (!exchange.audited) this.#options.audit?.denied(exchange, status);
  }

  #count({ startedAtMs }: Exchange, status: number): void {
    this.#options.metrics.requestEnded(path, "GET", status, (performance.now() - startedAtMs) / 1000);
  }

  #log(exchange: Exchange, status: number): void {
    this.#options.logger.info("request", { ...exchange.logFields(status), isWebSocket: true });
  }
}

/** The status of the reply, if there was one; see `clientGone`. */
function sentStatus({ outgoing }: Exchange): number {
  return outgoing.headersSent ? outgoing.statusCode : clientGone;
}

function serverBusy(): ApiError {
  return new ApiError("The server has reached its limit of WebSocket connections. Try again later.", {
    status: 503,
    code: "too_many_connections",
    retryAfterMs: 5000,
  });
}
