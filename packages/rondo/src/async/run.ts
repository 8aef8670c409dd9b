// The one shape of everything long that is iterated: an iterable that can be left at any moment.

import { warn } from "../error/logger.ts";
import { settlesWithin } from "./timer.ts";

/** How long a tool may clean up after an abort before it is left behind, by default. */
export const defaultGraceMs = 1_000;

export interface RunSetup {
  /** Aborts the run from outside; `next()` then rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** How long leaving waits for a tool's cleanup, and for each hook after it. Default: 1,000. */
  graceMs?: number | undefined;
}

/** What a run iterates: an async generator, or what else can be stepped through and left. */
export interface Steps<T, R> {
  next(): Promise<IteratorResult<T, R>>;
  return(value: R): Promise<IteratorResult<T, R>>;
}

/** The reason of the signal of a run that was left. */
export function leftReason(): DOMException {
  return new DOMException("The run was left before it had ended.", "AbortError");
}

/** Waits for the cleanup of a run that was left, for a limited time, and warns if that is not enough. */
export async function cleansUpInTime(cleanup: Promise<unknown>, graceMs: number): Promise<boolean> {
  const isInTime = await settlesWithin(cleanup, graceMs * 2 + defaultGraceMs);
  if (!isInTime)
    warn("A run that was left has not finished its cleanup in time: a hook or a tool is still busy.");
  return isInTime;
}

/**
 * An async iterable that can be left at once. The `return()` of a bare async generator waits behind a pending
 * `next()`; this one aborts the work first, then waits for its cleanup for a limited time.
 *
 * Nothing runs before the first `next()`.
 */
export class Run<T, R = void> implements AsyncIterableIterator<T, R | undefined, void>, AsyncDisposable {
  readonly #start: (signal: AbortSignal) => Steps<T, R>;
  readonly #outside: AbortSignal | undefined;
  readonly #graceMs: number;
  readonly #controller = new AbortController();
  #inner: Steps<T, R> | undefined;
  #leaving: Promise<void> | undefined;
  readonly #cleanupErrors: unknown[] = [];
  #isLeft = false;
  #isOver = false;

  constructor(
    start: (signal: AbortSignal) => Steps<T, R>,
    { signal, graceMs = defaultGraceMs }: RunSetup = {},
  ) {
    this.#start = start;
    this.#outside = signal;
    this.#graceMs = graceMs;
  }

  /** The next value. The first call starts the work. */
  next(): Promise<IteratorResult<T, R | undefined>> {
    if (this.#isLeft) return Promise.resolve({ done: true, value: undefined });
    const step = (this.#inner ?? this.#begin()).next();
    return step.then(
      (result) => this.#passOn(result),
      (error: unknown) => this.#fail(error),
    );
  }

  /**
   * Leaves the run: aborts the work and waits for its cleanup. A `break` out of `for await` calls this. The first
   * caller gets the errors of the cleanup.
   */
  async return(): Promise<IteratorResult<T, R | undefined>> {
    if (this.#isLeft) {
      await this.#leaving?.catch(() => {});
    } else {
      this.#isLeft = true;
      if (this.#inner && !this.#isOver) this.#leaving = this.#leave(this.#inner);
      await this.#leaving;
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #begin(): Steps<T, R> {
    if (this.#outside?.aborted) this.#onOutsideAbort();
    else this.#outside?.addEventListener("abort", this.#onOutsideAbort);
    this.#inner = this.#start(this.#controller.signal);
    return this.#inner;
  }

  async #leave(inner: Steps<T, R>): Promise<void> {
    const reason = leftReason();
    this.#controller.abort(reason);
    this.#end();
    const closing = inner.return(undefined as R).catch((error: unknown) => this.#cleanupErrors.push(error));
    await cleansUpInTime(closing, this.#graceMs);
    // Our own abort is not an error.
    const unexpected = this.#cleanupErrors.filter((error) => error !== reason);
    if (unexpected.length > 0) throw unexpected[0];
  }

  #passOn(step: IteratorResult<T, R>): IteratorResult<T, R | undefined> {
    if (step.done) this.#end();
    return this.#isLeft ? { done: true, value: undefined } : step;
  }

  #fail(error: unknown): IteratorResult<T, R | undefined> {
    this.#end();
    if (!this.#isLeft) throw error;
    this.#cleanupErrors.push(error); // thrown by return()
    return { done: true, value: undefined };
  }

  readonly #onOutsideAbort = (): void => {
    this.#controller.abort(this.#outside?.reason);
  };

  #end(): void {
    this.#isOver = true;
    this.#outside?.removeEventListener("abort", this.#onOutsideAbort);
  }
}
