// Limits how many jobs of an owner wait in the queue. The queue is counted rarely: after it counted n jobs, limit - n
// more are let in before it is counted again. Jobs that are being written are not counted yet, so that a few more may
// get in.

import { tooManyRequests } from "../protocol/api-error.ts";
import type { RunQueue } from "../store/run-queue.ts";

/** How many owners are remembered; then all are forgotten, and counted again. */
const maxOwners = 10_000;

/** Which part of the room one process fills before it counts again, where others fill it too. */
const sharedPart = 1 / 8;

export class QueueLimit {
  readonly #queue: Pick<RunQueue, "count">;
  readonly #limit: number;
  readonly #share: number;
  /** How many more jobs of an owner are let in before they are counted. */
  readonly #allowance = new Map<string, number>();
  readonly #counting = new Map<string, Promise<void>>();

  /** `isShared`: whether other processes add to the queue too. Then it is counted sooner. Default: false. */
  constructor(queue: Pick<RunQueue, "count">, limit: number, { isShared = false } = {}) {
    this.#queue = queue;
    this.#limit = limit;
    this.#share = isShared ? sharedPart : 1;
  }

  /** Lets one more job of `owner` into the queue. Throws a 429 when it is full. */
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

  /** Concurrent requests of an owner share one count. */
  #count(owner: string): Promise<void> {
    const running = this.#counting.get(owner);
    if (running) return running;
    const counting = this.#refill(owner).finally(() => this.#counting.delete(owner));
    this.#counting.set(owner, counting);
    return counting;
  }

  async #refill(owner: string): Promise<void> {
    const { queued } = await this.#queue.count(owner);
    if (this.#allowance.size >= maxOwners) this.#allowance.clear();
    this.#allowance.set(owner, Math.ceil((this.#limit - queued) * this.#share));
  }
}
