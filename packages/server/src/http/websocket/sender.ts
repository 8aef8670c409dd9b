// Sends frames on a connection: all of one tick in one write, and no faster than the client reads.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

// From here on a run waits for its client; below it goes on.
const fullBytes = 65_536;

export class Sender {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #flushing: NodeJS.Immediate | undefined;
  #drain: PromiseWithResolvers<void> | undefined;

  /** `stream` is what the socket writes to. */
  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
    socket.once("close", () => this.#release());
  }

  /** Sends a text. When the client has gone, it is dropped. */
  send(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#flushing === undefined) {
      this.#stream.cork();
      this.#flushing = setImmediate(this.#flush);
    }
    this.#socket.send(text, this.#sent);
    if (this.#isFull) this.#flush();
  }

  /** Set while the client cannot keep up: resolves when it can again, or has gone. */
  get drained(): Promise<void> | undefined {
    if (!this.#isFull || this.#socket.readyState !== this.#socket.OPEN) return undefined;
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount >= fullBytes;
  }

  readonly #flush = (): void => {
    if (this.#flushing === undefined) return;
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    this.#stream.uncork();
  };

  // A frame that could not be sent is told by `close` too.
  readonly #sent = (): void => {
    if (!this.#isFull) this.#release();
  };

  #release(): void {
    this.#drain?.resolve();
    this.#drain = undefined;
  }
}
