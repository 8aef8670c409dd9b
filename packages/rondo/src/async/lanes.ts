// Runs several generators at once. Each is at most one value ahead of the consumer.

import { warn } from "../error/logger.ts";
import { Deque } from "./deque.ts";

/** What a lane brought: a value or its end, or its error. */
export type Arrival<K, T, R> = { readonly key: K } & (
  | { readonly step: IteratorResult<T, R> }
  | { readonly error: unknown }
);

export class Lanes<K, T, R> {
  readonly #lanes = new Map<K, AsyncGenerator<T, R, void>>();
  readonly #arrivals = new Deque<Arrival<K, T, R>>();
  readonly #onArrival: () => void;

  constructor(onArrival: () => void) {
    this.#onArrival = onArrival;
  }

  get size(): number {
    return this.#lanes.size;
  }

  keys(): K[] {
    return [...this.#lanes.keys()];
  }

  /** Starts a generator at once. */
  add(key: K, generator: AsyncGenerator<T, R, void>): void {
    this.#lanes.set(key, generator);
    this.pull(key);
  }

  /** Asks a lane for its next value, after its last one was consumed. */
  pull(key: K): void {
    this.#lanes
      .get(key)
      ?.next()
      .then(
        (step) => this.#arrive({ key, step }),
        (error: unknown) => this.#arrive({ key, error }),
      );
  }

  /** The oldest arrival, if there is one. A lane that ended is removed. */
  take(): Arrival<K, T, R> | undefined {
    const arrival = this.#arrivals.shift();
    if (arrival && ("error" in arrival || arrival.step.done)) this.#lanes.delete(arrival.key);
    return arrival;
  }

  /**
   * Leaves all lanes and waits for their cleanup; the signal must be aborted before if they are to end early. Throws
   * the first error that is not its reason.
   */
  async close(signal: AbortSignal): Promise<void> {
    const closing = await Promise.allSettled(
      [...this.#lanes.values()].map((lane) => lane.return(undefined as R)),
    );
    const errors = [
      ...[...this.#arrivals].flatMap((arrival) => ("error" in arrival ? [arrival.error] : [])),
      ...closing.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : [])),
    ].filter((error) => !(signal.aborted && error === signal.reason));
    this.#lanes.clear();
    for (const error of errors.slice(1)) warn("Another turn failed while the run was ending.", error);
    if (errors.length > 0) throw errors[0];
  }

  #arrive(arrival: Arrival<K, T, R>): void {
    this.#arrivals.push(arrival);
    this.#onArrival();
  }
}
