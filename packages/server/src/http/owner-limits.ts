// Limits what one owner may have in flight, so that no owner can starve the others: requests, and the bytes of their
// bodies and large replies.

import { tooManyRequests } from "../protocol/api-error.ts";

export interface OwnerLimitsOptions {
  /** How many requests an owner may have in flight. */
  readonly requestsPerOwner: number;
  /** How many bytes their bodies and large replies may have together. */
  readonly bodyBytesPerOwner: number;
}

/** Bytes that count for an owner. */
export interface ByteMeter {
  /** Adds bytes. Throws a 429 when the owner has too many. */
  addBytes(count: number): void;
  /** Subtracts all that was added. */
  clear(): void;
  /** Ends the count. Further calls do nothing. */
  release(): void;
}

/** A request in flight, with the bytes of its body and its reply. Freed by `release()`. */
export type RequestSlot = Pick<ByteMeter, "addBytes" | "release">;

interface Usage {
  requests: number;
  bytes: number;
  /** How many meters count here. */
  meters: number;
}

export class OwnerLimits {
  readonly #options: OwnerLimitsOptions;
  /** Only of owners with something in flight. */
  readonly #usage = new Map<string, Usage>();

  constructor(options: OwnerLimitsOptions) {
    this.#options = options;
  }

  /** What an owner has in flight. */
  usageOf(owner: string): { readonly requests: number; readonly bytes: number } {
    const { requests, bytes } = this.#usage.get(owner) ?? none;
    return { requests, bytes };
  }

  /** Admits a request. Throws a 429 at the limit. */
  enter(owner: string): RequestSlot {
    const { requestsPerOwner } = this.#options;
    const { requests } = this.#usage.get(owner) ?? none;
    if (requests >= requestsPerOwner)
      throw tooManyRequests(
        `You have ${requests} requests in flight, this server's limit for one owner (limits.requestsPerOwner). Wait until one ends.`,
      );
    return this.#count(owner, 1);
  }

  /** Counts bytes before there is a request. */
  meter(owner: string): ByteMeter {
    return this.#count(owner, 0);
  }

  #count(owner: string, requests: number): ByteMeter {
    const known = this.#usage.get(owner);
    const usage = known ?? { ...none };
    if (!known) this.#usage.set(owner, usage);
    usage.requests += requests;
    usage.meters += 1;
    return new OwnerMeter(usage, requests, this.#options.bodyBytesPerOwner, () => this.#usage.delete(owner));
  }
}

const none: Readonly<Usage> = { requests: 0, bytes: 0, meters: 0 };

class OwnerMeter implements ByteMeter {
  readonly #usage: Usage;
  readonly #requests: number;
  readonly #limit: number;
  readonly #onIdle: () => void;
  #own = 0;
  #isOver = false;

  /** `onIdle` is called when nothing counts for the owner any more. */
  constructor(usage: Usage, requests: number, limit: number, onIdle: () => void) {
    this.#usage = usage;
    this.#requests = requests;
    this.#limit = limit;
    this.#onIdle = onIdle;
  }

  addBytes(count: number): void {
    if (this.#isOver) return;
    const usage = this.#usage;
    // A single request has a limit of its own.
    if (usage.bytes > this.#own && usage.bytes + count > this.#limit)
      throw tooManyRequests(
        `Your requests in flight, with their replies, exceed ${this.#limit} bytes, this server's limit for one owner (limits.bodyBytesPerOwner). Wait until some end.`,
      );
    this.#own += count;
    usage.bytes += count;
  }

  clear(): void {
    this.#usage.bytes -= this.#own;
    this.#own = 0;
  }

  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.clear();
    this.#usage.requests -= this.#requests;
    this.#usage.meters -= 1;
    if (this.#usage.meters === 0) this.#onIdle();
  }
}
