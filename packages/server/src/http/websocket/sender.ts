// Sends frames on a connection: all of one tick in one write, and no faster than the client reads. Measures how long the
// client has read nothing; frames that it sends do not count as reading.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

// Above this, a run waits for its client.
const fullBytes = 65_536;

export class Sender {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  #flushing: NodeJS.Immediate | undefined;
  #drain: PromiseWithResolvers<void> | undefined;
  /** How many frames the system has not accepted yet. It accepts more only as the client reads. */
  #unsent = 0;
  /** Since when it has accepted none of them. */
  #stalledAtMs = 0;
  #isPonging = false;
  /** The payload of the newest unanswered ping. */
  #ping: Buffer | undefined;

  /** `stream` is the one below the socket. */
  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
    socket.once("close", () => this.#release());
  }

  /** Sends a text, or drops it if the client is gone. */
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

  /** Pings the client, unless it has unread frames. */
  ping(): void {
    if (this.#socket.readyState !== this.#socket.OPEN || this.#unsent > 0) return;
    this.#begin();
    this.#socket.ping(undefined, false, this.#sent);
  }

  /**
   * Answers a ping. At most one pong waits to be sent: of the pings that come meanwhile only the newest is answered,
   * as the protocol allows, so that a client that does not read costs no memory.
   */
  pong(payload: Buffer): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#isPonging) {
      // A copy: the payload is a view of a large chunk.
      this.#ping = Buffer.from(payload);
      return;
    }
    this.#isPonging = true;
    this.#begin();
    this.#socket.pong(payload, false, this.#ponged);
  }

  /** Set while the client cannot keep up: resolves when it can again, or is gone. */
  get drained(): Promise<void> | undefined {
    if (!this.#isFull || this.#socket.readyState !== this.#socket.OPEN) return undefined;
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  /** How many bytes the client has not read yet. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** How long the client has read nothing of what waits for it; 0 when nothing waits. */
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

  // For a frame that could not be sent, `close` is emitted too.
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
