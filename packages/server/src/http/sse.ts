// Writes server-sent events straight to the socket: all of one tick in one write, no faster than the client reads, and
// with keep-alive comments.

import type { ServerResponse } from "node:http";
import type { EventSink } from "../engine/event-sink.ts";

export interface SseOptions {
  /** How long a stream may be silent before it gets a comment. 0 for never. */
  keepAliveMs: number;
  /** Headers of the reply besides its own. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /** How long events are collected after a write, for a client to which each piece is costly. Default: 0. */
  collectMs?: number;
}

// Above this, frames are written before the end of the tick, so that the socket can apply back-pressure.
const maxPendingChars = 65_536;

/**
 * Opens a stream on a reply that has not begun. The head is sent with the first event, so that a failure before it can
 * still become an error reply. Never throws: when the client is gone, events are dropped.
 */
export class SseWriter implements EventSink {
  readonly #outgoing: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  #pending = "";
  #count = 0;
  #isOver: boolean;
  #flushing: NodeJS.Immediate | undefined;
  readonly #collectMs: number;
  /** Set while events are collected. */
  #collecting: NodeJS.Timeout | undefined;
  #drain: PromiseWithResolvers<void> | undefined;

  constructor(outgoing: ServerResponse, { keepAliveMs, headers = {}, collectMs = 0 }: SseOptions) {
    this.#outgoing = outgoing;
    this.#collectMs = collectMs;
    this.#headers = headers;
    this.#isOver = outgoing.destroyed || outgoing.closed;
    if (this.#isOver) return;
    outgoing.on("drain", this.#release);
    outgoing.once("close", this.#stop);
    // A write to a client that has just left fails; `close` is emitted anyway.
    outgoing.on("error", () => {});
    if (keepAliveMs > 0) this.#keepAlive = setTimeout(this.#comment, keepAliveMs);
  }

  /** Whether something was sent, so that the reply cannot become an error any more. */
  get isStarted(): boolean {
    return this.#count > 0 || this.#outgoing.headersSent;
  }

  /** How many events were sent. */
  get count(): number {
    return this.#count;
  }

  get drained(): Promise<void> | undefined {
    if (this.#isOver || !this.#outgoing.writableNeedDrain) return undefined;
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  /** Sends an event; with an empty type, one of data only. */
  send(type: string, json: string): void {
    if (this.#isOver) return;
    this.#count++;
    // One data line is enough: compact JSON has no line breaks.
    this.#pending += type === "" ? `data: ${json}\n\n` : `event: ${type}\ndata: ${json}\n\n`;
    if (this.#pending.length >= maxPendingChars) this.#flush();
    else if (this.#collecting === undefined) this.#flushing ??= setImmediate(this.#flush);
  }

  /** Ends the stream with `data: [DONE]`. */
  end(): void {
    this.#finish("data: [DONE]\n\n");
  }

  /** Ends the stream as it is: the response goes on elsewhere. */
  cut(): void {
    this.#finish("");
  }

  #finish(last: string): void {
    if (this.#isOver) return;
    this.#writeHead();
    this.#outgoing.end(this.#pending + last);
    this.#stop();
  }

  readonly #flush = (): void => {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (this.#isOver || this.#pending === "") return;
    this.#writeHead();
    this.#outgoing.write(this.#pending);
    this.#pending = "";
    this.#keepAlive?.refresh();
    if (this.#collectMs > 0) this.#collecting ??= setTimeout(this.#collected, this.#collectMs);
  };

  readonly #collected = (): void => {
    this.#collecting = undefined;
    this.#flush();
  };

  #writeHead(): void {
    if (this.#outgoing.headersSent) return;
    this.#outgoing.writeHead(200, {
      ...this.#headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      // Without it, nginx buffers events.
      "x-accel-buffering": "no",
    });
  }

  readonly #comment = (): void => {
    // For a client that does not read, comments would only pile up.
    if (!this.#outgoing.writableNeedDrain) {
      this.#writeHead();
      this.#outgoing.write(": keep-alive\n\n");
    }
    this.#keepAlive?.refresh();
  };

  readonly #release = (): void => {
    this.#drain?.resolve();
    this.#drain = undefined;
  };

  readonly #stop = (): void => {
    this.#isOver = true;
    this.#pending = "";
    clearTimeout(this.#keepAlive);
    clearTimeout(this.#collecting);
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    this.#release();
  };
}
