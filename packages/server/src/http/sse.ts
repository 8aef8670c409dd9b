// Writes a stream of server-sent events straight to the socket: all frames of one tick in one write, no faster
// than the client reads, and with a comment now and then while there is nothing to say.

import type { ServerResponse } from "node:http";
import type { EventSink } from "../engine/event-sink.ts";

export interface SseOptions {
  /** How long to be silent before a comment shows that the server is still there. 0 for never. */
  keepAliveMs: number;
  /** Headers of the answer besides its own. Default: none. */
  headers?: Readonly<Record<string, string>>;
}

export interface SseWriter extends EventSink {
  /** Sends an event; with an empty type, one that has only data. */
  send(type: string, json: string): void;
  /** Whether something was sent, so that the answer cannot become an error any more. */
  readonly isStarted: boolean;
  /** How many events were sent. */
  readonly count: number;
  /** Ends the stream with `data: [DONE]`. */
  end(): void;
  /** Ends the stream as it is: the response goes on, but not here. */
  cut(): void;
}

// Above this, frames do not wait for the end of the tick, so that the socket can say that it is full.
const maxPendingChars = 65_536;

/**
 * Opens a stream on an answer that has not begun. The head goes out with the first event, so that whatever fails
 * before it can still be answered as an error. Never throws: when the client has gone, events are dropped.
 */
export function sseWriter(outgoing: ServerResponse, options: SseOptions): SseWriter {
  return new Writer(outgoing, options);
}

class Writer implements SseWriter {
  readonly #outgoing: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  #pending = "";
  #count = 0;
  #isOver: boolean;
  #flushing: NodeJS.Immediate | undefined;
  #drain: PromiseWithResolvers<void> | undefined;

  constructor(outgoing: ServerResponse, { keepAliveMs, headers = {} }: SseOptions) {
    this.#outgoing = outgoing;
    this.#headers = headers;
    this.#isOver = outgoing.destroyed || outgoing.closed;
    if (this.#isOver) return;
    outgoing.on("drain", this.#release);
    outgoing.once("close", this.#stop);
    // A client that goes away between two looks at it makes the next write fail; `close` tells us anyway.
    outgoing.on("error", () => {});
    if (keepAliveMs > 0) this.#keepAlive = setTimeout(this.#comment, keepAliveMs);
  }

  get isStarted(): boolean {
    return this.#count > 0 || this.#outgoing.headersSent;
  }

  get count(): number {
    return this.#count;
  }

  get drained(): Promise<void> | undefined {
    if (this.#isOver || !this.#outgoing.writableNeedDrain) return undefined;
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  send(type: string, json: string): void {
    if (this.#isOver) return;
    this.#count++;
    // One data line is enough: there are no line breaks in JSON text without indentation.
    this.#pending += type === "" ? `data: ${json}\n\n` : `event: ${type}\ndata: ${json}\n\n`;
    if (this.#pending.length >= maxPendingChars) this.#flush();
    else this.#flushing ??= setImmediate(this.#flush);
  }

  end(): void {
    this.#finish("data: [DONE]\n\n");
  }

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
  };

  #writeHead(): void {
    if (this.#outgoing.headersSent) return;
    this.#outgoing.writeHead(200, {
      ...this.#headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      // Without it, nginx keeps events back.
      "x-accel-buffering": "no",
    });
  }

  readonly #comment = (): void => {
    // A client that does not read needs no sign of life, and must not make us keep more for it.
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
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    this.#release();
  };
}
