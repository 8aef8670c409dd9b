// An idle timeout: acts when nothing has come for too long. One timer serves the whole stream and is re-armed only
// when it fires too early, so that a chunk costs no more than reading the clock.

import { timerMs } from "../async/timer.ts";

export class SilenceLimit {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #heardAt = 0;
  #isPaused = false;
  #wasSilent = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `Infinity` for no limit. Does nothing before the first `hear()`. */
  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
  }

  /** Something has come: restarts the limit. */
  hear(): void {
    if (this.#limitMs === Number.POSITIVE_INFINITY) return;
    this.#heardAt = performance.now();
    this.#timer ??= setTimeout(this.#onTimer, timerMs(this.#limitMs));
  }

  /** Suspends the limit while we do not read. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Restarts the limit, unless it was stopped meanwhile. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.hear();
  }

  /** Ends the limit until the next `hear()`. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isPaused = false;
    this.#wasSilent = false;
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#isPaused) return; // resume() arms it again
    const leftMs = this.#limitMs - (performance.now() - this.#heardAt);
    // setTimeout may fire a fraction of a millisecond early; half a millisecond counts as reached.
    const isSilent = leftMs <= 0.5;
    if (isSilent && this.#wasSilent) this.#onSilence();
    // If our own thread was busy, bytes may wait to be read: they are handled before another timer fires.
    else this.#timer = setTimeout(this.#onTimer, isSilent ? 0 : timerMs(leftMs));
    this.#wasSilent = isSilent;
  };
}
