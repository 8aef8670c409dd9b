// One connection to a server, for one exchange at a time, and those that are kept for the next one.

import type { AsyncResource } from "node:async_hooks";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { fieldOf, type ReplyHead, ReplyReader, type ReplyTaker } from "./reply-reader.ts";

/** What a connection works for. */
export interface ConnectionUser extends ReplyTaker {
  /** The connection broke, or what came over it is not a reply. Nothing follows. */
  onFailure(error: Error): void;
}

/** An idle connection is not used in the last moments before its server closes it. */
const marginMs = 1_000;
/** One text is the fastest to send, as long as putting it together costs nothing. */
const maxJoinedLength = 16_384;

/**
 * What is read from a socket comes here. One for all of them: bytes are used, or copied, before anything else is read. On
 * Windows reads are under way at the same time.
 */
let sharedBuffer: Buffer | undefined;

function readBuffer(): Buffer {
  if (process.platform === "win32") return Buffer.allocUnsafe(65_536);
  sharedBuffer ??= Buffer.allocUnsafeSlow(65_536);
  return sharedBuffer;
}

type OnBytes = (bytes: Buffer) => void;

/** The connections to one server. */
export class ConnectionPool {
  readonly #url: URL;
  readonly #net = process.getBuiltinModule("node:net");
  readonly #hooks = process.getBuiltinModule("node:async_hooks");
  /** The one that was used last comes first: the others may soon be closed. */
  readonly #idle: Connection[] = [];
  /** To resume: saves round trips. */
  #session: Buffer | undefined;

  constructor(origin: string) {
    this.#url = new URL(origin);
  }

  /** A connection of the user's own, until its reply has ended. */
  take(user: ConnectionUser): Connection {
    let connection = this.#idle.pop();
    while (connection?.isExpired) {
      connection.destroy();
      connection = this.#idle.pop();
    }
    connection ??= new Connection((onBytes) => this.#connect(onBytes), this.#idle);
    connection.begin(user);
    return connection;
  }

  /** The async context of whoever calls it: that of a connection is the one of the request which opened it. */
  currentContext(): AsyncResource {
    return new this.#hooks.AsyncResource("rondo.http");
  }

  #connect(onBytes: OnBytes): Socket {
    const { protocol, port } = this.#url;
    const host = this.#url.hostname.replace(/^\[(.*)\]$/, "$1"); // IPv6
    const isTls = protocol === "https:";
    const address = { host, port: Number(port === "" ? (isTls ? 443 : 80) : port) };
    if (!isTls) {
      // Not by events of the stream, which allocates 64 KB for each of them.
      const buffer = readBuffer();
      const callback = (count: number) => {
        onBytes(buffer.subarray(0, count));
        return true;
      };
      return this.#net.connect({ ...address, onread: { buffer, callback } });
    }
    const socket: TLSSocket = process.getBuiltinModule("node:tls").connect({
      ...address,
      ...(this.#net.isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ["http/1.1"],
      session: this.#session,
    });
    socket.on("session", (session: Buffer) => {
      this.#session = session;
    });
    // The session may be what the server rejects.
    socket.on("close", (hadError) => {
      if (hadError) this.#session = undefined;
    });
    socket.on("data", onBytes);
    return socket;
  }
}

export class Connection implements ReplyTaker {
  readonly #socket: Socket;
  readonly #idle: Connection[];
  readonly #reader = new ReplyReader(this);
  #user: ConnectionUser | undefined;
  #uses = 0;
  #keepsAlive = false;
  #isPaused = false;
  /** How long the server keeps it while it is idle, and until when. */
  #idleMs = Number.POSITIVE_INFINITY;
  #expiresAtMs = Number.POSITIVE_INFINITY;

  constructor(connect: (onBytes: OnBytes) => Socket, idle: Connection[]) {
    const socket = connect((bytes) => this.#read(bytes));
    this.#socket = socket;
    this.#idle = idle;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, marginMs);
    socket.on("end", () => this.#ended());
    socket.on("error", (error: Error) => this.#fail(error));
    socket.on("close", () => this.#fail(closedTooEarly()));
  }

  /** Whether its server may not have seen a request, as it closed the connection before. */
  get isStale(): boolean {
    return this.#uses > 1 && !this.#reader.hasBegun;
  }

  get isExpired(): boolean {
    return this.#expiresAtMs < performance.now() || this.#socket.destroyed;
  }

  begin(user: ConnectionUser): void {
    this.#user = user;
    this.#uses += 1;
    if (this.#uses === 1) return;
    this.#reader.reset();
    this.#socket.ref();
  }

  /** Sends a request. `head` has the characters of Latin-1 only. */
  send(head: string, body: readonly string[]): void {
    const socket = this.#socket;
    const length = body.reduce((sum, part) => sum + part.length, 0);
    if (length < maxJoinedLength && /^[\t\r\n\x20-\x7e]*$/.test(head)) {
      socket.write(body.reduce((text, part) => text + part, head));
      return;
    }
    socket.cork();
    socket.write(head, "latin1");
    for (const part of body) socket.write(part);
    socket.uncork();
  }

  /** The server is held back, as soon as the buffers between are full. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Closes it at once. Its user receives nothing more. */
  destroy(): void {
    this.#user = undefined;
    this.#socket.destroy();
  }

  onHead(head: ReplyHead): void {
    this.#keepsAlive = head.keepsConnection;
    const timeout = /(?:^|[\s,])timeout=(\d{1,9})/.exec(fieldOf(head.fields, "keep-alive") ?? "")?.[1];
    this.#idleMs =
      timeout === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(timeout) * 1_000 - marginMs);
    this.#user?.onHead(head);
  }

  onBody(bytes: Buffer): void {
    this.#user?.onBody(bytes);
  }

  onEnd(): void {
    const user = this.#user;
    this.#user = undefined;
    // A request that is answered before it was sent would be followed by its own rest.
    if (this.#keepsAlive && this.#socket.writableLength === 0) this.#keep();
    else this.#socket.destroy();
    user?.onEnd();
  }

  #keep(): void {
    this.#idle.push(this);
    this.#expiresAtMs = performance.now() + this.#idleMs;
    this.resume();
    this.#socket.unref(); // it does not keep the process running
  }

  #read(bytes: Buffer): void {
    try {
      const count = this.#user ? this.#reader.read(bytes) : 0;
      // Bytes that nobody asked for: the next reply would be taken for another one.
      if (count < bytes.length) this.#drop();
    } catch (error) {
      this.#fail(error as Error);
      this.#drop();
    }
  }

  /** The server sends no more. */
  #ended(): void {
    if (!this.#user || !this.#reader.end()) this.#fail(closedTooEarly());
    this.#drop();
  }

  #drop(): void {
    const index = this.#idle.indexOf(this);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    const user = this.#user;
    this.#user = undefined;
    user?.onFailure(error);
    this.#drop();
  }
}

function closedTooEarly(): Error {
  return Object.assign(new Error("The connection was closed too early."), { code: "ECONNRESET" });
}
