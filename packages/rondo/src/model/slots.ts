// Limits the requests in flight to an endpoint: a local GPU has few slots, and one request too many slows down all.
// First in, first out; all requests to the same endpoint share the count.

interface Waiting {
  readonly limit: number;
  readonly go: () => void;
}

/** Releases the slot. Idempotent. */
export type ReleaseSlot = () => void;

export interface SlotRequest {
  readonly endpoint: string;
  /** How many requests the endpoint may have, this one included. `Infinity` never waits. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called if there is none free, before it waits. Default: nobody listens. */
  readonly onWait?: (() => void) | undefined;
}

// Only endpoints with requests in flight, so that it does not grow.
const endpoints = new Map<string, Slots>();

/** A slot of the endpoint: at once if one is free, else a promise that waits in line. Throws or rejects when aborted. */
export function acquireSlot({
  endpoint,
  limit,
  signal,
  onWait,
}: SlotRequest): ReleaseSlot | Promise<ReleaseSlot> {
  signal.throwIfAborted();
  const slots = endpoints.get(endpoint) ?? new Slots(() => endpoints.delete(endpoint));
  endpoints.set(endpoint, slots);
  return slots.acquire(limit, signal, onWait);
}

/** What is in flight at an endpoint. */
export interface SlotsInUse {
  /** Requests that have a slot. */
  readonly taken: number;
  /** Requests that wait in line. */
  readonly waiting: number;
}

/** How many requests of this process an endpoint has. `endpoint` is that of a `ModelProvider`. */
export function slotsInUse(endpoint: string): SlotsInUse {
  return endpoints.get(endpoint)?.inUse ?? { taken: 0, waiting: 0 };
}

class Slots {
  #taken = 0;
  // A set keeps the order of arrival, and removing one is cheap.
  readonly #waiting = new Set<Waiting>();
  readonly #onUnused: () => void;

  constructor(onUnused: () => void) {
    this.#onUnused = onUnused;
  }

  get inUse(): SlotsInUse {
    return { taken: this.#taken, waiting: this.#waiting.size };
  }

  acquire(
    limit: number,
    signal: AbortSignal,
    onWait: (() => void) | undefined,
  ): ReleaseSlot | Promise<ReleaseSlot> {
    const isFree = limit === Number.POSITIVE_INFINITY || (this.#waiting.size === 0 && this.#taken < limit);
    if (isFree) return this.#take();
    onWait?.();
    return this.#wait(limit, signal);
  }

  #wait(limit: number, signal: AbortSignal): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        leave();
        reject(signal.reason);
        this.#callNext(); // the next in line may have a higher limit
      };
      const waiting: Waiting = {
        limit,
        go: () => {
          leave();
          resolve(this.#take());
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", onAbort);
    });
  }

  #take(): ReleaseSlot {
    this.#taken += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#taken -= 1;
      this.#callNext();
      if (this.#taken === 0) this.#onUnused(); // then none waits either
    };
  }

  #callNext(): void {
    for (const { limit, go } of this.#waiting) {
      if (this.#taken >= limit) return;
      go();
    }
  }
}
