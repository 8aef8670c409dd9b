// A gate that holds answers in their middle, so that as many streams as wanted are open at one moment.

export class Gate {
  readonly #opened = Promise.withResolvers<void>();
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
  #heldCount = 0;

  /** Resolves when the gate is open. */
  async pass(): Promise<void> {
    this.#heldCount++;
    for (const { count, resolve } of this.#waiting) if (this.#heldCount >= count) resolve();
    await this.#opened.promise;
  }

  /** Resolves when so many have come to the gate. */
  async holds(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#heldCount >= count) return;
    const waiter = { count, resolve };
    this.#waiting.add(waiter);
    await promise;
    this.#waiting.delete(waiter);
  }

  open(): void {
    this.#opened.resolve();
  }
}
