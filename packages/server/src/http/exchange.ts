// One request and its answer: whose it is, what goes into the log, and the signal that says that nobody waits
// for the answer any more. `Exchanges` knows all that are open, so that the server can let them end.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { RequestSlot } from "./owner-limits.ts";

export interface ExchangeOptions {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  /** The id of the request. */
  id: string;
  /** The pattern of its path, or `other`. */
  route: string;
  /** Headers of every answer: the request id, and those of CORS. */
  headers: Record<string, string>;
}

const shortBytes = 65_536;

export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly id: string;
  readonly route: string;
  readonly headers: Record<string, string>;
  readonly startedAtMs = performance.now();
  /** Known after authentication. */
  owner: string | undefined;
  responseId: string | undefined;
  model: string | undefined;
  /** Whether it only watches a run that goes on without it. */
  isFollowing = false;
  /** Where it is among those that are open; undefined when it is not. */
  place: number | undefined;
  #controller: AbortController | undefined;
  #reason: Error | undefined;
  readonly #onEnd: (() => void)[] = [];
  #slot: RequestSlot | undefined;

  constructor({ incoming, outgoing, id, route, headers }: ExchangeOptions) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.id = id;
    this.route = route;
    this.headers = headers;
  }

  /** Aborted when the client has gone, or the server stops. Made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Why nobody waits any more, if so. */
  get stopReason(): Error | undefined {
    return this.#reason;
  }

  /** Says that nobody waits any more. The first reason counts. */
  stop(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Takes its place among those of its owner, and frees it at the end. Long answers count there as well. */
  occupy(slot: RequestSlot): void {
    this.#slot = slot;
    this.onEnd(() => slot.release());
  }

  /** Calls `release` when the exchange ends, or now if it has. */
  onEnd(release: () => void): void {
    if (this.place === undefined) release();
    else this.#onEnd.push(release);
  }

  /** Called when it ends. */
  ended(): void {
    for (const release of this.#onEnd) release();
  }

  /**
   * Answers with JSON. Does nothing if there is an answer already, or nobody to take it. Throws a 429 when the
   * owner leaves too much unread.
   */
  json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void {
    this.text(status, JSON.stringify(body), "application/json", headers);
  }

  /** As `json`, with any text. */
  text(status: number, body: string, type: string, headers?: Readonly<Record<string, string>>): void {
    const { outgoing } = this;
    if (outgoing.headersSent || outgoing.destroyed) return;
    const bytes = Buffer.byteLength(body);
    // The client may leave it unread. Short ones, errors among them, need no count; and what a run has made is never
    // refused: it would be asked for again.
    if (bytes > shortBytes && this.incoming.method === "GET") this.#slot?.addBytes(bytes);
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
  // Not a set: V8 keeps the tables that one has outgrown until the next full garbage collection, and with them all
  // that was ever in them. For busy servers that is every request.
  readonly #open: Exchange[] = [];
  #idle: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#open.length;
  }

  /** Whether the server is about to stop: no new work is taken. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on no connection is kept for another request. */
  drain(): void {
    this.#isDraining = true;
    for (const { outgoing } of this.#open) outgoing.shouldKeepAlive = false;
  }

  /** Keeps an exchange until its answer is complete or its client has gone; then `onEnd` is called, once. */
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
      if (!outgoing.writableFinished) exchange.stop(new Error("The client has gone."));
      onEnd();
      if (this.#open.length === 0) this.#idle?.resolve();
    };
    outgoing.once("close", end);
    // An answer that waits behind another one on the same connection is not told when that is closed.
    if (outgoing.socket === null) socket.once("close", end);
  }

  /** Whether a connection has an exchange that is open. */
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

  /** Stops all, or only those that watch a run that goes on without them. */
  stop(reason: Error, { onlyFollowing = false } = {}): void {
    // A list of their own: those that end leave the other one meanwhile.
    const those = this.#open.filter(({ isFollowing }) => isFollowing || !onlyFollowing);
    for (const exchange of those) exchange.stop(reason);
  }

  /** The last one takes the place. */
  #remove(exchange: Exchange, place: number): void {
    exchange.place = undefined;
    const last = this.#open.pop();
    if (last === undefined || last === exchange) return;
    this.#open[place] = last;
    last.place = place;
  }
}
