// The containers that have processes now: no more than the machine should carry. Others keep their files, and get a
// place when they are used; the one that was idle longest then loses its processes.

import type { Container, Interpreter } from "rondo/sandbox";

/** An open container. */
export interface OpenContainer {
  readonly container: Container;
  /** Starts with the first code. */
  interpreter: Promise<Interpreter> | undefined;
}

interface Place {
  readonly opening: Promise<OpenContainer>;
  users: number;
  usedAtMs: number;
}

export interface ContainerPoolOptions {
  /** How many containers are open at most. */
  readonly size: number;
  readonly now: () => number;
}

export class ContainerPool {
  readonly #options: ContainerPoolOptions;
  readonly #places = new Map<string, Place>();
  /** Those whose processes are being ended: they still have their places. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Those that wait for a place, in order. */
  readonly #waiting: (() => void)[] = [];

  constructor(options: ContainerPoolOptions) {
    this.#options = options;
  }

  /** Whether something works in it now. */
  isBusy(id: string): boolean {
    return (this.#places.get(id)?.users ?? 0) > 0;
  }

  /** Gives an open container to `work`, and opens it first if need be. Waits for a place until the signal is aborted. */
  async use<T>(
    id: string,
    open: () => Promise<OpenContainer>,
    work: (open: OpenContainer) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const place = await this.#take(id, open, signal);
    try {
      return await work(await place.opening);
    } finally {
      place.users -= 1;
      place.usedAtMs = this.#options.now();
      if (place.users === 0) this.#waiting.shift()?.();
    }
  }

  /** Forgets a container. Its processes are the caller's to end. */
  forget(id: string): void {
    if (this.#places.delete(id)) this.#waiting.shift()?.();
  }

  /** Ends the processes of all. */
  async close(): Promise<void> {
    await Promise.all([...this.#places.keys()].map((id) => this.#end(id)));
  }

  async #take(
    id: string,
    open: () => Promise<OpenContainer>,
    signal: AbortSignal | undefined,
  ): Promise<Place> {
    while (true) {
      signal?.throwIfAborted();
      const known = this.#places.get(id);
      if (known) {
        known.users += 1;
        return known;
      }
      const ending = this.#ending.get(id);
      if (ending) {
        await ending;
        continue;
      }
      if (this.#places.size + this.#ending.size < this.#options.size) break;
      const [idle] = [...this.#places]
        .filter(([, { users }]) => users === 0)
        .toSorted(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
      if (idle) await this.#end(idle[0]);
      else await this.#free(signal);
    }
    const opening = open();
    const place: Place = { opening, users: 1, usedAtMs: this.#options.now() };
    this.#places.set(id, place);
    // Its users see the error; nobody else should find a container that could not be opened.
    opening.catch(() => this.#places.get(id) === place && this.forget(id));
    return place;
  }

  /** Resolves when a place may have become free. */
  #free(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiting.indexOf(wake);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal?.reason as Error);
      };
      const wake = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(wake);
    });
  }

  #end(id: string): Promise<void> {
    const place = this.#places.get(id);
    this.#places.delete(id);
    const close = async () => {
      const open = await place?.opening.catch(() => undefined);
      await open?.container.close();
    };
    const ended = close().finally(() => {
      this.#ending.delete(id);
      this.#waiting.shift()?.();
    });
    this.#ending.set(id, ended);
    return ended;
  }
}
