// One request and its reply: its owner, its log fields, and the signal that is aborted when nobody waits for the reply
// any more. `Exchanges` tracks the open ones, so that the server can let them finish.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RequestSlot } from "./owner-limits.ts";
import type { AuditedRequest } from "./request-audit.ts";

/** Why work for a client ends early: it left, or may not go on. Traces say it. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

export interface ExchangeOptions {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** The request id. */
  id: string;
  /** The pattern of its path, or `other`. */
  route: string;
  /** Headers of every reply: the request id, and those of CORS. */
  headers: Record<string, string>;
}

export interface BinaryReply {
  readonly content: AsyncIterable<Uint8Array>;
  readonly bytes: number;
  readonly filename: string;
  /** Whether only the headers are sent. Default: false. */
  readonly isHead?: boolean;
}

const smallBytes = 65_536;

/** The usual status for a client that left before there was a reply. */
export const clientGone = 499;

/** As headers have it (RFC 8187). */
function encodeFilename(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (it) => `%${it.charCodeAt(0).toString(16)}`);
}

export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly id: string;
  readonly route: string;
  readonly headers: Record<string, string>;
  readonly startedAtMs = performance.now();
  /** Known after authentication. */
  owner: string | undefined;
  /** Which key was used. */
  keyId: string | undefined;
  /** What the audit log has of it, once it is accepted. */
  audited: AuditedRequest | undefined;
  /** The code of an error reply. */
  errorCode: string | undefined;
  responseId: string | undefined;
  model: string | undefined;
  /** Whether it only follows a background run. */
  isFollowing = false;
  /** Its index among the open ones; undefined when it is not open. */
  place: number | undefined;
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  #onEnd: (() => void)[] | undefined;
  #slot: RequestSlot | undefined;

  constructor({ incoming, outgoing, id, route, headers }: ExchangeOptions) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.id = id;
    this.route = route;
    this.headers = headers;
  }

  /** Aborted when the client is gone, or the server stops. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why it was aborted, if so. */
  get stopReason(): Error | undefined {
    return this.#reason;
  }

  /** Aborts it. The first reason counts. */
  stop(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Holds a slot of its owner until it ends. The body and large replies count there. */
  occupy(slot: RequestSlot): void {
    if (this.place === undefined) slot.release();
    else this.#slot = slot;
  }

  /** The slot of its owner, if there are limits. */
  get slot(): RequestSlot | undefined {
    return this.#slot;
  }

  /** Calls `release` when the exchange ends, or now if it is over. */
  onEnd(release: () => void): void {
    if (this.place === undefined) {
      release();
      return;
    }
    this.#onEnd ??= [];
    this.#onEnd.push(release);
  }

  /** What the log says about it. The query is left out: nobody knows what clients put there. */
  logFields(status: number) {
    const { incoming, id: requestId, owner, responseId, model } = this;
    const method = incoming.method ?? "";
    const { url = "" } = incoming;
    const query = url.indexOf("?");
    const path = (query < 0 ? url : url.slice(0, query)).slice(0, 200);
    const ms = Math.round((performance.now() - this.startedAtMs) * 10) / 10;
    return { method, path, status, ms, requestId, owner, responseId, model };
  }

  /** Called when it ends. */
  ended(): void {
    this.#slot?.release();
    for (const release of this.#onEnd ?? []) release();
  }

  /**
   * Replies with JSON. Does nothing if a reply has begun, or the client is gone. Throws a 429 when the owner leaves too
   * much unread.
   */
  json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    this.text(status, JSON.stringify(body), "application/json", headers);
  }

  /**
   * Replies with the content of a file, as the client reads it. It is never shown by a browser: anyone may have made
   * it. What fails after the reply has begun cuts the connection, so that no part passes for the whole.
   */
  async binary({ content, bytes, filename, isHead = false }: BinaryReply): Promise<void> {
    const { outgoing } = this;
    if (outgoing.headersSent || outgoing.destroyed) return;
    outgoing.writeHead(200, {
      ...this.headers,
      "content-type": "application/octet-stream",
      "content-length": bytes,
      "content-disposition": `attachment; filename*=UTF-8''${encodeFilename(filename)}`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
    });
    if (isHead) {
      outgoing.end();
      return;
    }
    await pipeline(content, outgoing, { signal: this.signal }).catch(() => outgoing.destroy());
  }

  /** As `json`, with any text. */
  text(status: number, body: string, type: string, headers?: Readonly<Record<string, string>>): void {
    const { outgoing } = this;
    if (outgoing.headersSent || outgoing.destroyed) return;
    const bytes = Buffer.byteLength(body);
    // The client may leave it unread. Small ones, such as errors, are not counted; and the result of a run is never
    // rejected: it would be requested again.
    if (bytes > smallBytes && this.incoming.method === "GET") this.#slot?.addBytes(bytes);
    outgoing.writeHead(status, {
      ...this.headers,
      ...headers,
      "content-type": type,
      "content-length": bytes,
    });
    outgoing.end(body);
  }
}

export class Exchanges {
  #isDraining = false;
  // Not a set: V8 keeps the tables that a set has outgrown, with their entries, until the next full garbage collection.
  // On a busy server that is every request.
  readonly #open: Exchange[] = [];
  #idle: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#open.length;
  }

  /** Whether the server is stopping: no new work is accepted. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on no connection is kept alive for another request. */
  drain(): void {
    this.#isDraining = true;
    for (const { outgoing } of this.#open) outgoing.shouldKeepAlive = false;
  }

  /** Tracks an exchange until its reply is complete or its client is gone; then `onEnd` is called, once. */
  add(exchange: Exchange, onEnd: () => void): void {
    const { incoming, outgoing } = exchange;
    const { socket } = incoming;
    exchange.place = this.#open.push(exchange) - 1;
    if (this.#isDraining) outgoing.shouldKeepAlive = false;
    const end = () => {
      if (exchange.place === undefined) return;
      this.#remove(exchange, exchange.place);
      socket.off("close", end);
      exchange.ended();
      if (!outgoing.writableFinished) exchange.stop(new ClientLeft("The client is gone."));
      onEnd();
      if (this.#open.length === 0) this.#idle?.resolve();
    };
    outgoing.once("close", end);
    // A reply that waits behind another one on its connection gets no event when that is closed.
    if (outgoing.socket === null) socket.once("close", end);
  }

  /** Whether a connection has an open exchange. */
  isOn(socket: Duplex): boolean {
    for (const { incoming } of this.#open) if (incoming.socket === socket) return true;
    return false;
  }

  /** Resolves when no exchange is open. */
  async whenIdle(): Promise<void> {
    if (this.#open.length === 0) return;
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  /** Aborts all, or only those that follow a background run. */
  stop(reason: Error, { onlyFollowing = false } = {}): void {
    // A copy: exchanges that end are removed meanwhile.
    const those = this.#open.filter(({ isFollowing }) => isFollowing || !onlyFollowing);
    for (const exchange of those) exchange.stop(reason);
  }

  /** The last one takes its place. */
  #remove(exchange: Exchange, place: number): void {
    exchange.place = undefined;
    const last = this.#open.pop();
    if (last === undefined || last === exchange) return;
    this.#open[place] = last;
    last.place = place;
  }
}
