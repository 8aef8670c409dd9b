// Runs that go on though their client has left, because it will ask for them again. Only so
// many of each owner: whoever leaves more than that behind could keep the server busy for nothing.

export class LeftBehind {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Lets `work` go on when `gone` is aborted, unless too many do so already: then its signal is aborted too. */
  async watch<T>(owner: string, gone: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    let isLeft = false;
    const onGone = () => {
      const count = this.#counts.get(owner) ?? 0;
      isLeft = count < this.#most;
      if (isLeft) this.#counts.set(owner, count + 1);
      else controller.abort(gone.reason);
    };
    gone.addEventListener("abort", onGone, { once: true });
    if (gone.aborted) onGone();
    try {
      return await work(controller.signal);
    } finally {
      gone.removeEventListener("abort", onGone);
      if (isLeft) this.#leave(owner);
    }
  }

  #leave(owner: string): void {
    const count = (this.#counts.get(owner) ?? 1) - 1;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
  }
}
