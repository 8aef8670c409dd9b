// A lock for each key, given in the order of the requests: foreground runs of one conversation do not overtake each
// other.

export class KeyedLock {
  /** The last request for each key: resolved when it and all before it are released. */
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Waits until all earlier requests for `key` are released. Returns the function that releases this one. Throws the
   * signal's reason when it is aborted while waiting.
   */
  async acquire(key: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#last.get(key);
    const { promise: own, resolve: release } = Promise.withResolvers<void>();
    // An aborted request is released when those before it are.
    const released: Promise<unknown> = Promise.all([before, own]).then(
      () => this.#last.get(key) === released && this.#last.delete(key),
    );
    this.#last.set(key, released);
    try {
      await (before && untilAborted(before, signal));
      signal.throwIfAborted();
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }
}

function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    void promise.then(() => {
      signal.removeEventListener("abort", onAbort);
      return resolve();
    });
    if (signal.aborted) onAbort();
  });
}
