// Sends frames on a connection: all of one tick in one write, and no faster than the client reads. Knows how long a
// client has read nothing of what waits for it; what the client itself sends says nothing about that.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

// From here on a run waits for its client; below it goes on.
const fullBytes = 65_536;

export class Sender {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #flushing: NodeJS.Immediate | undefined;
  #drain: PromiseWithResolvers<void> | undefined;
  /** How many frames the system has not taken yet. It takes more only as the client reads. */
  #unsent = 0;
  /** Since when it has taken none of them. */
  #stalledAtMs = 0;
  #isPonging = false;
  /** What the newest ping carries that is not answered yet. */
  #ping: Buffer | undefined;

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
    this.#begin();
    this.#socket.send(text, this.#sent);
    if (this.#isFull) this.#flush();
  }

  /** Asks for a sign of life, unless the client has yet to read something older. */
  ping(): void {
    if (this.#socket.readyState !== this.#socket.OPEN || this.#unsent > 0) return;
    this.#begin();
    this.#socket.ping(undefined, false, this.#sent);
  }

  /**
   * Answers a ping. At most one answer waits to be sent: of the pings that come meanwhile only the newest is
   * answered, as the protocol allows, so that a client that does not read costs nothing.
   */
  pong(payload: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#isPonging) {
      // A copy: the payload is part of the large chunk that was read.
      this.#ping = Buffer.from(payload);
      return;
    }
    this.#isPonging = true;
    this.#begin();
    this.#socket.pong(payload, false, this.#ponged);
  }

  /** Set while the client cannot keep up: resolves when it can again, or has gone. */
  get drained(): Promise<void> | undefined {
    if (!this.#isFull || this.#socket.readyState !== this.#socket.OPEN) return undefined;
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  /** How much waits to be read by the client, in bytes. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** How long something has waited for the client without any of it being read; 0 when nothing waits. */
  get stalledMs(): number {
    return this.#unsent === 0 ? 0 : performance.now() - this.#stalledAtMs;
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

  #begin(): void {
    if (this.#unsent === 0) this.#stalledAtMs = performance.now();
    this.#unsent += 1;
  }

  // A frame that could not be sent is told by `close` too.
  readonly #sent = (): void => {
    this.#unsent -= 1;
    this.#stalledAtMs = performance.now();
    if (!this.#isFull) this.#release();
  };

  readonly #ponged = (): void => {
    this.#sent();
    this.#isPonging = false;
    const payload = this.#ping;
    this.#ping = undefined;
    if (payload) this.pong(payload);
  };

  #release(): void {
    this.#drain?.resolve();
    this.#drain = undefined;
  }
}
