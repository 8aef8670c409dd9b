// Starts and stops the HTTP server, without cutting off requests in flight.

import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { invalidRequest } from "../protocol/api-error.ts";
import { errorBody, ServerStopping } from "./errors.ts";
import type { Exchanges } from "./exchange.ts";
import { GuardedResponse, headerLines } from "./guarded-response.ts";
import { ListenError } from "./listen-error.ts";
import type { Logger } from "./log.ts";
import { createServer } from "./node-http.ts";
import type { WebSockets } from "./websocket/web-sockets.ts";

export interface ListenOptions {
  app: RequestListener;
  exchanges: Exchanges;
  /** WebSocket connections. Default: upgrades are ignored. */
  webSockets?: WebSockets;
  logger: Logger;
  host: string;
  port: number;
  /** How long a client may stop reading before it is disconnected. Default: 120,000. */
  stallMs?: number;
  /** How many connections may be open; further ones are closed at once. Default: 10,000. */
  connections?: number;
  /** How long the headers of a request may take to arrive. Default: 30,000. */
  headersMs?: number;
  /** How long a whole request may take to arrive. Default: 120,000. */
  requestMs?: number;
}

export interface Listening {
  /** Its URL on this machine, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops: accepts no new connections, and no new requests on open ones. Requests in flight get `graceMs`, then their
   * signals are aborted, and what is still open a second later is cut. When `released` settles, background runs are
   * released and their followers are stopped. Resolves when all is closed.
   */
  close(options: { graceMs: number; released?: Promise<unknown> }): Promise<void>;
}

// How many connections may wait to be accepted; the system may allow fewer. With Node's default of 511, some of a
// thousand simultaneous clients retry only after seconds.
const backlog = 4096;

// How many unanswered requests a connection may have. Current clients send one at a time.
const maxPipelined = 8;

// How long an aborted request may take to reply.
const abortedMs = 1000;

/** Starts listening. Throws a `ListenError` when it cannot. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { exchanges, webSockets, host, port, logger, stallMs = 120_000, connections = 10_000 } = options;
  const { headersMs = 30_000, requestMs = 120_000 } = options;
  const server = createServer(
    {
      // Longer than usual proxies keep a connection: the side that closes first may cut off a request.
      keepAliveTimeout: 75_000,
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(5000, headersMs, requestMs),
      ServerResponse: GuardedResponse,
      ...(webSockets && { shouldUpgradeCallback: webSockets.isWanted }),
    },
    limited(options.app),
  );
  server.maxConnections = connections;
  warnOfDrops(server, connections, logger);
  if (webSockets) server.on("upgrade", webSockets.open);
  cutStalled(server, exchanges, stallMs);
  server.on("clientError", (error, socket) => rejectGarbage(error, socket, exchanges.isOn(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(new ListenError(error, host, port)));
    server.listen({ port, host, backlog }, resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${urlHost(host)}:${actualPort}`,
    port: actualPort,
    close: (closeOptions) => (closing ??= close(server, options, closeOptions)),
  };
}

/**
 * Disconnects clients that stopped reading: a run would wait for them for ever. Node emits `timeout` after so long
 * without a byte on a connection, which also closes idle ones. A connection that waits for its reply is left alone.
 */
function cutStalled(server: Server, exchanges: Exchanges, stallMs: number): void {
  server.timeout = stallMs;
  server.on("timeout", (socket) => {
    const isWaiting = exchanges.isOn(socket) && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
}

// One line for many in a row.
const warnEveryMs = 60_000;

/** Logs that connections are rejected. */
function warnOfDrops(server: Server, connections: number, logger: Logger): void {
  let warnedAtMs = -Infinity;
  server.on("drop", () => {
    if (performance.now() - warnedAtMs < warnEveryMs) return;
    warnedAtMs = performance.now();
    logger.warn("Connections are rejected: the limit of open ones is reached.", {
      "limits.connections": connections,
    });
  });
}

async function close(
  server: Server,
  { exchanges, webSockets }: ListenOptions,
  { graceMs, released }: { graceMs: number; released?: Promise<unknown> },
): Promise<void> {
  exchanges.drain();
  webSockets?.drain();
  const stop = (options?: { onlyFollowing: boolean }) => {
    exchanges.stop(new ServerStopping(), options);
    webSockets?.stop(new ServerStopping(), options);
  };
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const stopFollowing = () => stop({ onlyFollowing: true });
  released?.then(stopFollowing, stopFollowing);
  const timers = [
    setTimeout(() => stop(), graceMs),
    setTimeout(() => {
      server.closeAllConnections();
      webSockets?.cut();
    }, graceMs + abortedMs),
  ];
  await Promise.all([exchanges.whenIdle(), webSockets?.whenIdle()]);
  // Connections whose last reply has just ended, and idle ones.
  server.closeAllConnections();
  await closed;
  for (const timer of timers) clearTimeout(timer);
}

/** How many requests of a connection have no reply yet. */
const unanswered = Symbol("unanswered");
type CountedSocket = Duplex & { [unanswered]?: number };

/** How long the rest of a body may take that nobody reads any more. */
const restMs = 500;

function limited(app: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const socket: CountedSocket = incoming.socket;
    const count = socket[unanswered] ?? 0;
    // Node reads on: one chunk may hold a thousand requests, and all their replies would be kept.
    if (count >= maxPipelined) {
      socket.destroy();
      return;
    }
    socket[unanswered] = count + 1;
    outgoing.once("close", () => {
      socket[unanswered] = (socket[unanswered] ?? 1) - 1;
      if (!incoming.complete) setTimeout(cutUnlessComplete, restMs, incoming).unref();
    });
    app(incoming, outgoing);
  };
}

/** Node discards what nobody reads, however long it is. */
function cutUnlessComplete({ complete, socket }: IncomingMessage): void {
  if (!complete) socket.destroySoon();
}

const garbageStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Replies to bytes that are not HTTP, unless a request is in flight. */
function rejectGarbage(error: NodeJS.ErrnoException, socket: Duplex, isBusy: boolean): void {
  if (isBusy || !socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = garbageStatus[error.code ?? ""] ?? "400 Bad Request";
  const problem = invalidRequest(null, `The request cannot be read as HTTP/1.1: ${status.slice(4)}.`);
  const body = JSON.stringify(errorBody(problem));
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headerLines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
