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
   * Resolves at the next ring, after `timeoutMs`, or when the signal is aborted: the waiter looks for itself. Ask
   * for it before reading what is there, so that nothing is missed between the two.
   */
  next(id: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
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
    });
  }
}
