// A message that is still arriving: its bytes count towards the owner's limit, and it has a time limit, as the body of
// an HTTP request has. Pings and pongs may come in between.

import type { ByteMeter } from "../owner-limits.ts";

/** The header and the mask of a ping or pong: its payload has at most 125 bytes. */
const controlHeaderBytes = 6;

/** Not counted: most messages arrive whole in their first chunk. */
const freeBytes = 65_536;

export class UnfinishedMessage {
  readonly #meter: ByteMeter;
  #bytes = 0;
  #sinceMs = 0;

  constructor(meter: ByteMeter) {
    this.#meter = meter;
  }

  /** Counts a chunk before it is parsed. Throws a 429 when the owner has too much. */
  add(bytes: number, nowMs: number): void {
    if (this.#bytes === 0) this.#sinceMs = nowMs;
    const before = Math.max(0, this.#bytes - freeBytes);
    this.#bytes += bytes;
    const counted = Math.max(0, this.#bytes - freeBytes);
    if (counted > before) this.#meter.addBytes(counted - before);
  }

  /** The message is complete. The start of the next one in the same chunk is small, and not counted. */
  end(): void {
    this.#bytes = 0;
    this.#meter.clear();
  }

  /** A part of the bytes was a ping or pong. */
  leaveOut(payloadBytes: number): void {
    this.#bytes -= controlHeaderBytes + payloadBytes;
    if (this.#bytes <= 0) this.end();
  }

  /** For how long it has been arriving; 0 if there is none. */
  ageMs(nowMs: number): number {
    return this.#bytes === 0 ? 0 : nowMs - this.#sinceMs;
  }

  close(): void {
    this.#meter.release();
  }
}
