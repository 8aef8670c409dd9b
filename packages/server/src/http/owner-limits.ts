// What one owner may have under way at once, so that none can take the server from the others: requests, and the
// bytes of their bodies and long answers.

import { tooManyRequests } from "../protocol/api-error.ts";

export interface OwnerLimitsOptions {
  /** How many requests an owner may have at once. */
  readonly requestsPerOwner: number;
  /** How large their bodies and long answers may be together. */
  readonly bodyBytesPerOwner: number;
}

/** The place of one request. */
export interface RequestSlot {
  /** Adds bytes of its body or its answer. Throws a 429 when the owner's requests have too many. */
  addBytes(count: number): void;
  /** Frees the place. Only the first call counts. */
  release(): void;
}

interface Usage {
  requests: number;
  bytes: number;
}

export class OwnerLimits {
  readonly #options: OwnerLimitsOptions;
  /** Only of owners that have something under way. */
  readonly #usage = new Map<string, Usage>();

  constructor(options: OwnerLimitsOptions) {
    this.#options = options;
  }

  /** How much an owner has under way. */
  usageOf(owner: string): Readonly<Usage> {
    return this.#usage.get(owner) ?? { requests: 0, bytes: 0 };
  }

  /** Takes a place for a request. Throws a 429 when there is none. */
  enter(owner: string): RequestSlot {
    const { requestsPerOwner, bodyBytesPerOwner } = this.#options;
    const usage = this.#usage.get(owner) ?? { requests: 0, bytes: 0 };
    if (usage.requests >= requestsPerOwner)
      throw tooManyRequests(
        `You have ${usage.requests} requests at once, this server's limit for one owner (limits.requestsPerOwner). Wait until one has ended.`,
      );
    usage.requests += 1;
    this.#usage.set(owner, usage);
    let own = 0;
    let isOver = false;
    return {
      addBytes: (count) => {
        if (isOver) return;
        // One request alone is limited otherwise.
        if (usage.bytes > own && usage.bytes + count > bodyBytesPerOwner)
          throw tooManyRequests(
            `Your requests at this moment, with their answers, are more than ${bodyBytesPerOwner} bytes, this server's limit for one owner (limits.bodyBytesPerOwner). Wait until some have ended.`,
          );
        own += count;
        usage.bytes += count;
      },
      release: () => {
        if (isOver) return;
        isOver = true;
        usage.requests -= 1;
        usage.bytes -= own;
        if (usage.requests === 0) this.#usage.delete(owner);
      },
    };
  }
}
