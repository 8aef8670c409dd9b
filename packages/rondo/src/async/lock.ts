// A fair lock for asynchronous code. Waiting for it can be aborted and can time out.

import { LockTimeoutError, SafeExecutionError } from "../error/execution-errors.ts";
import { isHeldHere, runHolding } from "./held-locks.ts";
import { after } from "./timer.ts";

export interface AcquireOptions {
  /** Aborts the wait; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** How long to wait. Default: no limit. */
  timeoutMs?: number;
}

/** Ownership of a lock, from `acquire()` to `release()`. */
export class Hold {
  readonly lock: Lock;
  readonly #free: () => void;
  #released = false;

  constructor(lock: Lock, free: () => void) {
    this.lock = lock;
    this.#free = free;
  }

  get isReleased(): boolean {
    return this.#released;
  }

  /** Runs `fn`, and all that it calls, as code that holds the lock. */
  run<R>(fn: () => R): R {
    return runHolding(this, fn);
  }

  /** Releases the lock when `work` has settled; at once if there is none. */
  releaseWhen(work: PromiseLike<unknown> | undefined): void {
    const release = () => this.release();
    if (work) work.then(release, release);
    else this.release();
  }

  /** Passes the lock to the next in line. Idempotent. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#free();
  }
}

export class Lock {
  /** The owner, for error messages: `the tool 'write_file'`. */
  readonly owner: string;
  #isHeld = false;
  // A set keeps the order of arrival, and removing a waiter is cheap.
  readonly #waiting = new Set<(hold: Hold) => void>();

  constructor(owner: string) {
    this.owner = owner;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Waits for the lock.
   *
   * @throws SafeExecutionError when the calling code already holds it and would wait for itself
   * @throws LockTimeoutError after `timeoutMs`
   */
  async acquire({ signal, timeoutMs = Number.POSITIVE_INFINITY }: AcquireOptions = {}): Promise<Hold> {
    signal?.throwIfAborted();
    if (!this.#isHeld) return this.#take();
    if (isHeldHere((hold) => hold.lock === this && !hold.isReleased))
      throw new SafeExecutionError(
        `The lock of ${this.owner} is held by the very code that waits for it, so it would wait forever. ` +
          "Do that work after the locked run has ended, or without the lock.",
      );
    return this.#wait(signal, timeoutMs);
  }

  #wait(signal: AbortSignal | undefined, timeoutMs: number): Promise<Hold> {
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        this.#waiting.delete(onTurn);
        signal?.removeEventListener("abort", onAbort);
        cancelTimer();
      };
      const onTurn = (hold: Hold) => {
        stopWaiting();
        resolve(hold);
      };
      const onAbort = () => {
        stopWaiting();
        reject(signal?.reason);
      };
      const cancelTimer = after(timeoutMs, () => {
        stopWaiting();
        reject(new LockTimeoutError(this.owner, timeoutMs));
      });
      signal?.addEventListener("abort", onAbort);
      this.#waiting.add(onTurn);
    });
  }

  #take(): Hold {
    this.#isHeld = true;
    return new Hold(this, () => this.#passOn());
  }

  #passOn(): void {
    const [next] = this.#waiting;
    // The lock goes straight to the next in line, so that no newcomer can slip in between.
    if (next) next(this.#take());
    else this.#isHeld = false;
  }
}
