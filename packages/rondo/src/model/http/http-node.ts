// HTTP/1.1 on Node's sockets: less work than with its own client, no hidden time limit, and a socket that closes in the
// same tick as an abort.

import type { AsyncResource } from "node:async_hooks";
import type { HttpRequest, HttpResponse, HttpSend, TakeBytes } from "./http.ts";
import { type Connection, ConnectionPool, type ConnectionUser } from "./node/connection.ts";
import { decoded } from "./node/decoded-response.ts";
import { fieldOf, type ReplyHead } from "./node/reply-reader.ts";

/** How long the rest of an unneeded body is drained before its connection is closed. */
const drainMs = 500;
/** How much of it is drained before the connection is closed. */
const maxDrainBytes = 1_048_576;
/** So much waits for a reader before the server is held back. */
const maxWaitingBytes = 65_536;

/** Where a request goes. */
interface Target {
  readonly pool: ConnectionPool;
  /** The path, as the request line has it. */
  readonly path: string;
  readonly host: string;
}

/** By the origin. */
const pools = new Map<string, ConnectionPool>();
/** By the address: an endpoint uses the same one again. */
const targets = new WeakMap<URL, Target>();

/** Sends a request. Pooled connections that turn out to be dead are replaced. */
export const send: HttpSend = (request) =>
  new Promise((resolve, reject) => {
    request.signal.throwIfAborted();
    new Exchange(request, targetOf(request.url), resolve, reject).begin();
  });

function targetOf(url: URL): Target {
  const known = targets.get(url);
  if (known) return known;
  const pool = pools.get(url.origin) ?? new ConnectionPool(url.origin);
  pools.set(url.origin, pool);
  const target = { pool, path: `${url.pathname}${url.search}`, host: url.host };
  targets.set(url, target);
  return target;
}

/** One request and its reply. */
class Exchange implements HttpResponse, ConnectionUser {
  readonly #request: HttpRequest;
  readonly #target: Target;
  readonly #onReply: (response: HttpResponse) => void;
  #onError: (error: unknown) => void;
  #connection: Connection | undefined;
  #head: ReplyHead | undefined;
  #take: TakeBytes | undefined;
  /** The async context of the reader: that of the connection is the one of the request which opened it. */
  #context: AsyncResource | undefined;
  #onRead: (() => void) | undefined;
  /** What came before it could be taken. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  isComplete = false;
  /** Why it is not, and will not be. */
  #failure: { readonly error: unknown } | undefined;
  /** Nobody waits for more. */
  #isOver = false;
  #drainLeft = maxDrainBytes;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    request: HttpRequest,
    target: Target,
    onReply: (response: HttpResponse) => void,
    onError: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#target = target;
    this.#onReply = onReply;
    this.#onError = onError;
    request.signal.addEventListener("abort", this.#onAbort);
  }

  begin(): void {
    const { method, body = [] } = this.#request;
    const { pool, path, host } = this.#target;
    try {
      const head = `${method} ${path} HTTP/1.1\r\n${fieldLines(this.#request, host)}\r\n`;
      this.#connection = pool.take(this);
      this.#connection.send(head, body);
    } catch (error) {
      this.#end();
      this.#onError(error);
    }
  }

  get status(): number {
    return this.#head?.status ?? 0;
  }

  /** Of a repeated one, the first. */
  header(name: string): string | undefined {
    const fields = this.#head?.fields ?? [];
    for (let index = 0; index < fields.length; index += 2)
      if (fields[index] === name) return fields[index + 1];
    return undefined;
  }

  read(take: TakeBytes): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#take = take;
      this.#context = this.#target.pool.currentContext();
      this.#onRead = resolve;
      this.#onError = reject;
      if (this.#isOver)
        reject(this.#failure?.error); // aborted before it was read
      else this.#deliver();
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
  }

  /** The rest of the body is not needed. It is drained within limits, so that the connection can be reused. */
  leave(): void {
    this.#end();
    this.#forget();
    if (this.isComplete || this.#failure) return;
    this.#connection?.resume();
    const giveUp = () => this.#connection?.destroy();
    this.#drainTimer = setTimeout(giveUp, drainMs).unref();
  }

  onHead(head: ReplyHead): void {
    this.#head = head;
    const encoding = fieldOf(head.fields, "content-encoding")?.toLowerCase() ?? "identity";
    const isPlain = encoding === "identity" || encoding === "";
    this.#onReply(isPlain ? this : decoded(this, encoding, this.#request.signal));
  }

  onBody(bytes: Buffer): void {
    if (this.#isOver) {
      this.#drainLeft -= bytes.length;
      if (this.#drainLeft < 0) this.#connection?.destroy();
      return;
    }
    if (this.#take && !this.#isPaused && this.#waiting.length === 0) {
      this.#give(bytes);
      return;
    }
    this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > maxWaitingBytes) this.#connection?.pause();
  }

  onEnd(): void {
    this.isComplete = true;
    clearTimeout(this.#drainTimer);
    this.#connection = undefined;
    this.#deliver();
  }

  onFailure(error: Error): void {
    clearTimeout(this.#drainTimer);
    const isStale = this.#connection?.isStale === true && isReset(error);
    this.#connection = undefined;
    if (this.#isOver) return;
    // The server had closed a kept connection before it saw the request.
    if (isStale) {
      this.begin();
      return;
    }
    this.#failure = { error };
    if (this.#head) {
      this.#isPaused = false; // what came before the error is delivered
      this.#deliver();
      return;
    }
    this.#end();
    this.#onError(error);
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#request.signal;
    this.#connection?.destroy();
    this.#fail(reason);
  };

  /** Gives what waits to the reader, then the end. */
  #deliver(): void {
    if (!this.#take) return;
    if (this.#waiting.length > 0 && !this.#isPaused) {
      const [first, ...others] = this.#waiting as [Buffer, ...Buffer[]];
      this.#forget();
      this.#give(others.length === 0 ? first : Buffer.concat([first, ...others]));
    }
    if (this.#waiting.length > 0 || this.#isOver) return;
    if (this.#failure) this.#fail(this.#failure.error);
    else if (this.isComplete) {
      this.#end();
      this.#onRead?.();
    } else this.#connection?.resume();
  }

  #give(bytes: Buffer): void {
    try {
      const hasEnough = this.#take && this.#context?.runInAsyncScope(this.#take, undefined, bytes) === true;
      if (!hasEnough || this.#isOver) return; // taking it may have aborted it
      this.#onRead?.();
      this.leave();
    } catch (error) {
      this.#connection?.destroy();
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    if (this.#isOver) return;
    this.#end();
    this.#forget();
    this.#onError(error);
  }

  /** Nobody waits for it any more. */
  #end(): void {
    this.#isOver = true;
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE";
}

/** The lines of headers that were sent before, and so are valid. Those of an endpoint are one object. */
const knownLines = new WeakMap<HttpRequest["headers"], HeaderLines>();

interface HeaderLines {
  readonly text: string;
  readonly hasHost: boolean;
}

/** The lines of the head after the first. Throws for a header that would break them. */
function fieldLines({ method, headers, body }: HttpRequest, host: string): string {
  let lines = knownLines.get(headers);
  if (!lines) {
    lines = headerLines(headers);
    if (Object.isFrozen(headers)) knownLines.set(headers, lines);
  }
  const text = lines.hasHost ? lines.text : `host: ${host}\r\n${lines.text}`;
  const hasLength = body !== undefined || method === "POST";
  return hasLength ? `${text}content-length: ${byteLength(body ?? [])}\r\n` : text;
}

function headerLines(headers: HttpRequest["headers"]): HeaderLines {
  let text = "";
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new TypeError(`The header ${JSON.stringify(name)} has characters that headers cannot have.`);
    if (name !== "content-length" && name !== "transfer-encoding") text += `${name}: ${value}\r\n`;
  }
  if (!("connection" in headers)) text += "connection: keep-alive\r\n";
  return { text, hasHost: "host" in headers };
}

function byteLength(parts: readonly string[]): number {
  let bytes = 0;
  for (const part of parts) bytes += Buffer.byteLength(part);
  return bytes;
}
