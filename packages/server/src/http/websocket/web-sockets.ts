// Opens WebSocket connections on `/v1/responses`, under the same rules as requests: the browser's, a key, and
// nothing new while the server stops. Knows all that are open.

import { type IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { invalidRequest, notFound } from "../../protocol/api-error.ts";
import { type BrowserGuard, browserGuard } from "../browser-guard.ts";
import { answerError, stopping } from "../errors.ts";
import { Exchange } from "../exchange.ts";
import { requestId } from "../request-id.ts";
import { Connection, type ConnectionSettings } from "./connection.ts";

export interface WebSocketsOptions extends ConnectionSettings {
  /** Says who asks. Throws a 401. */
  readonly authenticate: (headers: { authorization?: string | undefined }) => Promise<{ owner: string }>;
  /** The largest frame. */
  readonly bodyBytes: number;
  /** Web pages that may call; `*` for all. */
  readonly origins: readonly string[];
  readonly isOpenOnLoopback: boolean;
}

const path = "/v1/responses";

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #guard: BrowserGuard;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<Connection>();
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
    });
    this.#server.on("headers", (headers, incoming) => {
      headers.push(`x-request-id: ${this.#exchanges.get(incoming)?.id}`);
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
    const outgoing = new ServerResponse(incoming);
    const exchange = new Exchange({ incoming, outgoing, id, route: path, headers: { "x-request-id": id } });
    this.#exchanges.set(incoming, exchange);
    // Until the connection is open, nobody else listens.
    const onError = () => stream.destroy();
    stream.on("error", onError);
    void this.#admit(exchange)
      .finally(() => stream.off("error", onError))
      .then((owner) =>
        this.#server.handleUpgrade(incoming, stream, head, (socket) =>
          this.#connect(socket, { stream, owner, exchange }),
        ),
      )
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
  async #admit({ incoming }: Exchange): Promise<string> {
    this.#guard.check(incoming);
    const [asked = ""] = (incoming.url ?? "").split("?", 1);
    if (asked.replace(/\/$/, "") !== path)
      throw notFound(`There is no WebSocket ${asked.slice(0, 200)} here. It is ${path}.`, "unknown_path");
    const { owner } = await this.#options.authenticate(incoming.headers);
    if (this.#isDraining) throw stopping();
    return owner;
  }

  #connect(socket: WebSocket, given: { stream: Duplex; owner: string; exchange: Exchange }): void {
    const { exchange, owner } = given;
    exchange.owner = owner;
    this.#count(exchange, 101);
    const connection = new Connection({ ...this.#options, socket, ...given });
    this.#connections.add(connection);
    socket.once("close", () => {
      this.#connections.delete(connection);
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
    answerError(error, exchange, this.#options.logger);
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
