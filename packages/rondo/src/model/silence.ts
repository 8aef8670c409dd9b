// The limit of silence: acts when nothing has come for too long. One timer serves the whole stream; it is armed
// again only when it fires too early, so that a chunk costs no more than a look at the clock.

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

  /** Something has come: the silence starts anew. */
  hear(): void {
    if (this.#limitMs === Number.POSITIVE_INFINITY) return;
    this.#heardAt = performance.now();
    this.#timer ??= setTimeout(this.#onTimer, timerMs(this.#limitMs));
  }

  /** We do not listen, so that silence is not the server's fault. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Does nothing where it was stopped meanwhile. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.hear();
  }

  /** No more limit until the next `hear()`. */
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
    // If it was our own thread that was busy, something has come long ago: it gets its turn before another timer.
    else this.#timer = setTimeout(this.#onTimer, isSilent ? 0 : timerMs(leftMs));
    this.#wasSilent = isSilent;
  };
}
