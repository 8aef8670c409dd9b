// Runs that continue after their client disconnected, because it will ask for them again. Their number is limited for
// each owner: abandoned runs must not keep the server busy.

export class DetachedRuns {
  readonly #maxPerOwner: number;
  readonly #counts = new Map<string, number>();

  constructor(maxPerOwner: number) {
    this.#maxPerOwner = maxPerOwner;
  }

  /** Lets `work` continue when `gone` is aborted. If too many do so already, its signal is aborted too. */
  async watch<T>(owner: string, gone: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    let isDetached = false;
    const onGone = () => {
      const count = this.#counts.get(owner) ?? 0;
      isDetached = count < this.#maxPerOwner;
      if (isDetached) this.#counts.set(owner, count + 1);
      else controller.abort(gone.reason);
    };
    gone.addEventListener("abort", onGone, { once: true });
    if (gone.aborted) onGone();
    try {
      return await work(controller.signal);
    } finally {
      gone.removeEventListener("abort", onGone);
      if (isDetached) this.#remove(owner);
    }
  }

  #remove(owner: string): void {
    const count = (this.#counts.get(owner) ?? 1) - 1;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
  }
}
