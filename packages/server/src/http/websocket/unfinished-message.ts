// What a client has sent of a message that has not come whole: it counts among the bytes of its owner, and has a limit
// of time, as the body of a request has. Pings and pongs may come in between.

import type { ByteMeter } from "../owner-limits.ts";

/** The header and the mask of a ping or pong: its payload has at most 125 bytes. */
const controlHeaderBytes = 6;

/** So much of one is not counted: most messages are whole with their first chunk. */
const freeBytes = 65_536;

export class UnfinishedMessage {
  readonly #meter: ByteMeter;
  #bytes = 0;
  #sinceMs = 0;

  constructor(meter: ByteMeter) {
    this.#meter = meter;
  }

  /** Counts what has come, before it is read. Throws a 429 when the owner has too much. */
  add(bytes: number, nowMs: number): void {
    if (this.#bytes === 0) this.#sinceMs = nowMs;
    const before = Math.max(0, this.#bytes - freeBytes);
    this.#bytes += bytes;
    const counted = Math.max(0, this.#bytes - freeBytes);
    if (counted > before) this.#meter.addBytes(counted - before);
  }

  /** A message is whole. What has come of the next one with its last bytes is little, and not counted. */
  end(): void {
    this.#bytes = 0;
    this.#meter.clear();
  }

  /** What has come was, in part, a ping or pong. */
  leaveOut(payloadBytes: number): void {
    this.#bytes -= controlHeaderBytes + payloadBytes;
    if (this.#bytes <= 0) this.end();
  }

  /** For how long it has been coming; 0 if there is none. */
  ageMs(nowMs: number): number {
    return this.#bytes === 0 ? 0 : nowMs - this.#sinceMs;
  }

  close(): void {
    this.#meter.release();
  }
}
