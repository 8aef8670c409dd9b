// Runs that go on though their client has left, because it will ask for them again. Only so many: whoever leaves
// more than that behind could keep the server busy for nothing.

export class LeftBehind {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Lets `work` go on when `gone` is aborted, unless too many do so already: then its signal is aborted too. */
  async watch<T>(gone: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    let isLeft = false;
    const onGone = () => {
      isLeft = this.#count < this.#most;
      if (isLeft) this.#count += 1;
      else controller.abort(gone.reason);
    };
    gone.addEventListener("abort", onGone, { once: true });
    if (gone.aborted) onGone();
    try {
      return await work(controller.signal);
    } finally {
      gone.removeEventListener("abort", onGone);
      if (isLeft) this.#count -= 1;
    }
  }
}
