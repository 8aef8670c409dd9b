// Who came first is served first: those of this process that wait for the same conversation.

export class Line {
  /** The last in each line: resolved when it has left. */
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Waits until all who came before have left. Gives the function to leave with. Throws the signal's reason when
   * it is aborted before that; the place is then given up.
   */
  async enter(id: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#last.get(id);
    const { promise: own, resolve: leave } = Promise.withResolvers<void>();
    // Whoever gives up leaves when those before it have.
    const left: Promise<unknown> = Promise.all([before, own]).then(
      () => this.#last.get(id) === left && this.#last.delete(id),
    );
    this.#last.set(id, left);
    try {
      await (before && untilAborted(before, signal));
      signal.throwIfAborted();
      return leave;
    } catch (error) {
      leave();
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
