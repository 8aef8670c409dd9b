// Limits how many background runs of an owner wait. The store is asked only when there may be too many: after it has
// counted n, limit - n more can come before it has to count again. Runs that are just being written are not counted
// yet, so that a few more may get in.

import { tooManyRequests } from "../protocol/api-error.ts";
import type { Store } from "../store/store.ts";

// So many owners are remembered; then all are counted anew.
const mostOwners = 10_000;

export class WaitingRuns {
  readonly #store: Pick<Store, "countBackground">;
  readonly #limit: number;
  /** How many more runs of an owner may come before they are counted. */
  readonly #allowance = new Map<string, number>();
  readonly #counting = new Map<string, Promise<void>>();

  constructor(store: Pick<Store, "countBackground">, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /** Takes a place for a run that is about to wait. Throws a 429 when there is none. */
  async enter(owner: string): Promise<void> {
    if (this.#take(owner)) return;
    await this.#count(owner);
    if (this.#take(owner)) return;
    throw tooManyRequests(
      `You have ${this.#limit} background runs that wait, this server's limit for one owner (limits.waitingRunsPerOwner). Wait until some have begun, or cancel some.`,
    );
  }

  #take(owner: string): boolean {
    const left = this.#allowance.get(owner) ?? 0;
    if (left > 0) this.#allowance.set(owner, left - 1);
    return left > 0;
  }

  /** All who come meanwhile share one count, and what it leaves. */
  #count(owner: string): Promise<void> {
    const running = this.#counting.get(owner);
    if (running) return running;
    const counting = this.#refill(owner).finally(() => this.#counting.delete(owner));
    this.#counting.set(owner, counting);
    return counting;
  }
  async #refill(owner: string): Promise<void> {
    const { queued } = await this.#store.countBackground(owner);
    if (this.#allowance.size >= mostOwners) this.#allowance.clear();
    this.#allowance.set(owner, this.#limit - queued);
  }
}
