// The only way out of a container with an allow-list: an HTTP proxy on a file socket. It opens connections to allowed
// hosts of the public internet, for CONNECT and for plain http, and refuses everything else.

import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type AllowedHost, isAllowedHost, normalizedHost, parseAllowedHosts } from "./allowed-hosts.ts";
import { guardedConnect, RefusedConnectionError, type ResolveHost } from "./guarded-connect.ts";
import { defaultNetworkLimits, type NetworkLimits, Traffic, TrafficLimitError } from "./traffic.ts";

export interface EgressProxyOptions {
  /** Hosts that may be reached, as in `NetworkPolicy.allow`. */
  readonly allow: readonly string[];
  /** Hosts of `allow` that may have private addresses, by the same patterns. Default: none. */
  readonly allowPrivate?: readonly string[] | undefined;
  /** Default: `defaultNetworkLimits`. */
  readonly limits?: Partial<NetworkLimits> | undefined;
  /** Default: the resolver of the system. */
  readonly resolve?: ResolveHost | undefined;
}

/** A refusal with the status of its reply. */
class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Headers that belong to one connection, not to the message. */
const hopHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A proxy for one container. `listen()` starts it, `close()` ends all its connections. */
export class EgressProxy {
  readonly #allow: readonly AllowedHost[];
  readonly #allowPrivate: readonly AllowedHost[];
  readonly #limits: NetworkLimits;
  readonly #resolve: ResolveHost | undefined;
  readonly #traffic: Traffic;
  readonly #server: Server;
  readonly #closing = new AbortController();
  readonly #sockets = new Set<Duplex>();

  constructor({ allow, allowPrivate = [], limits, resolve }: EgressProxyOptions) {
    this.#allow = parseAllowedHosts("allow", allow);
    this.#allowPrivate = parseAllowedHosts("allowPrivate", allowPrivate);
    this.#limits = { ...defaultNetworkLimits, ...limits };
    this.#resolve = resolve;
    this.#traffic = new Traffic(this.#limits);
    this.#server = createServer({
      maxHeaderSize: 16_384,
      headersTimeout: Math.min(10_000, this.#limits.timeoutMs),
      requestTimeout: this.#limits.timeoutMs,
    });
    // Connections that wait for an answer have no place yet, and are few as well.
    this.#server.maxConnections = this.#limits.connections * 2;
    this.#server.on("connection", (socket) => this.#track(socket));
    this.#server.on("connect", (request, socket, head) => void this.#tunnel(request, socket, head));
    this.#server.on("request", (request, reply) => void this.#forward(request, reply));
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  /** Listens on a file socket. */
  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, "listening");
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The proxy is closed."));
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    let release: (() => void) | undefined;
    client.on("error", () => client.destroy());
    try {
      const [, name = "", port = ""] = /^(.{1,255}):(\d{1,5})$/.exec(request.url ?? "") ?? [];
      release = this.#traffic.open();
      const upstream = await this.#connect(name, Number(port));
      if (client.destroyed) return void upstream.destroy();
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      // Each socket is in two pipelines, which listen more than Node expects of a stream.
      for (const socket of [client, upstream]) socket.setMaxListeners(20);
      const [out, back] = [this.#traffic.counter(), this.#traffic.counter()];
      if (head.length > 0) out.write(head);
      await Promise.all([pipeline(client, out, upstream), pipeline(upstream, back, client)]);
    } catch (error) {
      const { status, message } = refusalOf(error);
      if (client.writable && !client.destroyed)
        client.end(`HTTP/1.1 ${status} ${message}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      else client.destroy();
    } finally {
      release?.();
    }
  }

  async #forward(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    let release: (() => void) | undefined;
    try {
      const url = new URL(URL.canParse(request.url ?? "") ? (request.url as string) : "about:blank");
      if (url.protocol !== "http:" || url.username !== "" || url.password !== "")
        throw new ProxyRefusal(400, "Expected CONNECT, or an http URL without a user");
      release = this.#traffic.open();
      const upstream = await this.#connect(url.hostname, url.port === "" ? 80 : Number(url.port));
      const outgoing = httpRequest({
        createConnection: () => upstream,
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...passedHeaders(request.headers), host: url.host, connection: "close" },
        signal: this.#closing.signal,
      });
      reply.on("close", () => outgoing.destroy());
      // A server may answer without reading the request to its end, so only the answer decides.
      const sending = pipeline(request, this.#traffic.counter(), outgoing).catch((error) =>
        outgoing.destroy(error),
      );
      const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
      reply.writeHead(answer.statusCode ?? 502, { ...passedHeaders(answer.headers), connection: "close" });
      await pipeline(answer, this.#traffic.counter(), reply);
      outgoing.destroy();
      await sending;
    } catch (error) {
      const { status, message } = refusalOf(error);
      if (reply.headersSent) reply.destroy();
      else
        reply
          .writeHead(status, message, { "content-type": "text/plain", connection: "close" })
          .end(`${message}\n`);
    } finally {
      release?.();
    }
  }

  async #connect(name: string, port: number): Promise<Socket> {
    const host = normalizedHost(name);
    if (host === undefined || !(port > 0 && port < 65_536))
      throw new ProxyRefusal(400, "Expected a host and a port");
    if (!isAllowedHost(this.#allow, host, port))
      throw new ProxyRefusal(403, "Host is not allowed in this container");
    const { connectMs, idleMs, timeoutMs } = this.#limits;
    const socket = await guardedConnect({
      host,
      port,
      mayBePrivate: isAllowedHost(this.#allowPrivate, host, port),
      resolve: this.#resolve,
      timeoutMs: connectMs,
      signal: this.#closing.signal,
    });
    socket.setTimeout(idleMs, () =>
      socket.destroy(new TrafficLimitError("the connection was idle for too long")),
    );
    const timer = setTimeout(
      () => socket.destroy(new TrafficLimitError("the connection took too long")),
      timeoutMs,
    );
    socket.once("close", () => clearTimeout(timer));
    // Errors before a pipeline listens, and after it.
    socket.on("error", () => undefined);
    this.#track(socket);
    return socket;
  }

  #track(socket: Duplex): void {
    if (this.#closing.signal.aborted) socket.destroy();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

function passedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hopHeaders.has(name) && !named.has(name)),
  );
}

function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof ProxyRefusal) return { status: error.status, message: error.message };
  if (error instanceof RefusedConnectionError) return { status: 403, message: "Host has a private address" };
  if (error instanceof TrafficLimitError)
    return { status: 429, message: "Network limit of the container reached" };
  return { status: 502, message: "Cannot connect to the host" };
}
