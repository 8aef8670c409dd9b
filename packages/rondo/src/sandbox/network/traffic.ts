// What the network of one container may use, counted over all its connections.

import { Transform } from "node:stream";

/** Limits of the network of one container. */
export interface NetworkLimits {
  /** Connections at the same time. Default: 32. */
  readonly connections: number;
  /** Bytes in both directions of all connections, while the container is open. Default: 256 MiB. */
  readonly bytes: number;
  /** Time of one connection. Default: 600,000. */
  readonly timeoutMs: number;
  /** How long a connection may carry nothing. Default: 60,000. */
  readonly idleMs: number;
  /** Time of the name look-up and the connect. Default: 10,000. */
  readonly connectMs: number;
}

export const defaultNetworkLimits: NetworkLimits = Object.freeze({
  connections: 32,
  bytes: 256 * 1024 * 1024,
  timeoutMs: 600_000,
  idleMs: 60_000,
  connectMs: 10_000,
});

/** A limit of the network that was reached. */
export class TrafficLimitError extends Error {
  override readonly name = "TrafficLimitError";
}

/** Counts connections and bytes against the limits. */
export class Traffic {
  readonly #limits: NetworkLimits;
  #connections = 0;
  #bytes = 0;

  constructor(limits: NetworkLimits) {
    this.#limits = limits;
  }

  /** Takes a place for a connection, until the returned function is called. Throws if none is free. */
  open(): () => void {
    if (this.#bytes >= this.#limits.bytes) throw tooManyBytes(this.#limits);
    if (this.#connections >= this.#limits.connections)
      throw new TrafficLimitError(`more than ${this.#limits.connections} connections at the same time`);
    this.#connections += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#connections -= 1;
      isOpen = false;
    };
  }

  /** A stage of a pipeline that counts what passes, and fails where the limit is reached. */
  counter(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#bytes += chunk.length;
        if (this.#bytes > this.#limits.bytes) done(tooManyBytes(this.#limits));
        else done(null, chunk);
      },
    });
  }
}

function tooManyBytes({ bytes }: NetworkLimits): TrafficLimitError {
  return new TrafficLimitError(`more than ${bytes} bytes over the network`);
}
