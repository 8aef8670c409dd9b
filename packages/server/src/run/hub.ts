// Tells those who follow a response that there is something new to read.

export class Hub {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes all who wait for this response. */
  ring(id: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    for (const wake of waiting ?? []) wake();
  }

  /**
   * Listens for the next ring. `news` resolves at it, after `timeoutMs`, when the signal is aborted, and when the
   * listener is disposed of: the waiter looks for itself. Listen before reading what is there, so that nothing is
   * missed between the two.
   */
  listen(id: string, timeoutMs: number, signal: AbortSignal): Disposable & { readonly news: Promise<void> } {
    const { promise: news, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting);
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      waiting.delete(wake);
      if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
      resolve();
    };
    const timer = setTimeout(wake, timeoutMs);
    waiting.add(wake);
    if (signal.aborted) wake();
    else signal.addEventListener("abort", wake);
    return { news, [Symbol.dispose]: wake };
  }
}
