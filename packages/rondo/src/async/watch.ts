// Runs a tool's code under a signal and a time limit. Code that ignores its signal is no longer waited for.

import { timerMs } from "./timer.ts";

export interface WatchOptions {
  /** Aborts the run from outside. */
  signal?: AbortSignal | undefined;
  /** How long the watched code may take in total; time between its parts does not count. */
  timeoutMs: number;
  /** The error for code that took too long. */
  timeoutError: () => Error;
}

export class Watch {
  readonly #outside: AbortSignal | undefined;
  readonly #timeoutMs: number;
  readonly #timeoutError: () => Error;
  /** Made when it is first read. */
  #controller: AbortController | undefined;
  #usedMs = 0;
  #enteredAt: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #interrupt: ((reason: unknown) => void) | undefined;
  #stopped: { readonly by: "timeout" | "cancelled"; readonly reason: unknown } | undefined;

  constructor({ signal, timeoutMs, timeoutError }: WatchOptions) {
    this.#outside = signal;
    this.#timeoutMs = timeoutMs;
    this.#timeoutError = timeoutError;
    if (signal?.aborted) this.#onOutsideAbort();
    else signal?.addEventListener("abort", this.#onOutsideAbort);
  }

  /** Aborted when the run is, for any reason. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) this.#controller.abort(this.#stopped.reason);
    }
    return this.#controller.signal;
  }

  throwIfStopped(): void {
    if (this.#stopped) throw this.#stopped.reason;
  }

  /** What stopped the run, if `error` is the result of that. */
  endedBy(error: unknown): "timeout" | "cancelled" | undefined {
    return this.#stopped && error === this.#stopped.reason ? this.#stopped.by : undefined;
  }

  /** Runs a part of the watched code and counts its time. Rejects with the signal's reason on abort. */
  async time<T>(part: () => PromiseLike<T>): Promise<T> {
    this.throwIfStopped();
    this.#enter();
    try {
      this.throwIfStopped();
      return await this.#untilStopped(part());
    } finally {
      this.#leave();
    }
  }

  /** Waits without counting the time. Rejects with the signal's reason on abort. */
  async wait<T>(part: PromiseLike<T>): Promise<T> {
    try {
      return await this.#untilStopped(part);
    } finally {
      this.#interrupt = undefined;
    }
  }

  /** Releases the listener and the timer. */
  [Symbol.dispose](): void {
    this.#outside?.removeEventListener("abort", this.#onOutsideAbort);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #onOutsideAbort = (): void => {
    this.#stop("cancelled", this.#outside?.reason);
  };

  #stop(by: "timeout" | "cancelled", reason: unknown): void {
    if (this.#stopped) return;
    this.#stopped = { by, reason };
    this.#controller?.abort(reason);
    // In the same tick: a tool that returns on abort must not win the race.
    this.#interrupt?.(reason);
  }

  #untilStopped<T>(work: PromiseLike<T>): Promise<T> {
    // Not Promise.race with a promise of the whole run: each value would add a reaction to it.
    return new Promise<T>((resolve, reject) => {
      this.#interrupt = reject;
      if (this.#stopped) reject(this.#stopped.reason);
      work.then(resolve, reject);
    });
  }

  #enter(): void {
    this.#enteredAt = performance.now();
    if (this.#timeoutMs === Number.POSITIVE_INFINITY) return;
    if (this.#usedMs >= this.#timeoutMs) this.#stop("timeout", this.#timeoutError());
    // One timer serves many short parts: it is re-armed only after it fired too early.
    else this.#timer ??= this.#arm();
  }

  #leave(): void {
    this.#usedMs = this.#currentlyUsedMs();
    this.#enteredAt = undefined;
    this.#interrupt = undefined;
  }

  #arm(): ReturnType<typeof setTimeout> {
    return setTimeout(this.#onTimer, timerMs(this.#timeoutMs - this.#currentlyUsedMs()));
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    if (this.#enteredAt === undefined) return;
    // setTimeout may fire a fraction of a millisecond early; half a millisecond counts as reached.
    if (this.#currentlyUsedMs() + 0.5 >= this.#timeoutMs) this.#stop("timeout", this.#timeoutError());
    else this.#timer = this.#arm();
  };

  #currentlyUsedMs(): number {
    return this.#enteredAt === undefined
      ? this.#usedMs
      : this.#usedMs + (performance.now() - this.#enteredAt);
  }
}
