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
    const { requests } = this.usageOf(owner);
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
    const { bodyBytesPerOwner } = this.#options;
    const usage = this.#usage.get(owner) ?? { ...none };
    usage.requests += requests;
    usage.meters += 1;
    this.#usage.set(owner, usage);
    let own = 0;
    let isOver = false;
    const clear = () => {
      usage.bytes -= own;
      own = 0;
    };
    return {
      addBytes: (count) => {
        if (isOver) return;
        // A single request has a limit of its own.
        if (usage.bytes > own && usage.bytes + count > bodyBytesPerOwner)
          throw tooManyRequests(
            `Your requests in flight, with their replies, exceed ${bodyBytesPerOwner} bytes, this server's limit for one owner (limits.bodyBytesPerOwner). Wait until some end.`,
          );
        own += count;
        usage.bytes += count;
      },
      clear,
      release: () => {
        if (isOver) return;
        isOver = true;
        clear();
        usage.requests -= requests;
        usage.meters -= 1;
        if (usage.meters === 0) this.#usage.delete(owner);
      },
    };
  }
}

const none: Readonly<Usage> = { requests: 0, bytes: 0, meters: 0 };
