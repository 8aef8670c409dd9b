// Limits how many frames a client may send: a token bucket that refills evenly over a minute.

const minuteMs = 60_000;

export class FrameRate {
  readonly #perMinute: number;
  #left: number;
  #atMs: number;

  /** `perMinute` frames may also come in one burst. */
  constructor(perMinute: number, nowMs: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
    this.#atMs = nowMs;
  }

  /** Counts a frame. False if it exceeds the limit. */
  take(nowMs: number): boolean {
    const refill = ((nowMs - this.#atMs) * this.#perMinute) / minuteMs;
    this.#left = Math.min(this.#perMinute, this.#left + refill);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
