// The nodes behind a load balancer: a client asks any of them, loses its connection when the process ends, and asks
// another.

import type { EventSink } from "../../engine/event-sink.ts";
import { ApiError } from "../../protocol/api-error.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Network } from "./connection.ts";
import type { Life, Service, SimNode } from "./node.ts";

/** The process ended before it replied, or does not reply. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** How long a client waits for a sign of life. */
const silenceMs = 25_000;

export class Cluster {
  readonly network: Network;
  readonly nodes: readonly SimNode[];

  constructor(network: Network, nodes: readonly SimNode[]) {
    this.network = network;
    this.nodes = nodes;
  }

  /** Asks one node, and another if that one fails for reasons that are not the request's. */
  async ask<T>(work: (service: Service, sign: Contact) => Promise<T>): Promise<T> {
    const { world, history } = this.network;
    while (true) {
      try {
        return await this.#askOne(await this.#anyLife(), work);
      } catch (error) {
        if (!isWorthAnotherTry(error)) throw error;
        history.figures.reconnects += 1;
        await world.sleep(world.chance.integer(50, 800));
      }
    }
  }

  async #anyLife(): Promise<Life> {
    const { world } = this.network;
    while (true) {
      const lives = this.nodes.flatMap(({ life }) => (life?.service ? [life] : []));
      if (lives.length > 0) return world.chance.pick(lives);
      await world.sleep(200);
    }
  }

  #askOne<T>(life: Life, work: (service: Service, sign: Contact) => Promise<T>): Promise<T> {
    const { world } = this.network;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const gone = new AbortController();
    const latency = () => world.chance.integer(0, 10);
    let isOver = false;
    const end = (action: () => void) => {
      if (isOver) return;
      isOver = true;
      life.onEnd.delete(onEnd);
      action();
    };
    const onEnd = () => {
      const lose = () => end(() => reject(new ConnectionLost("The process ended.")));
      world.after(latency(), lose, undefined);
    };
    let heardAtMs = world.nowMs;
    const contact: Contact = {
      gone: gone.signal,
      deliver: (action) => {
        const arrive = () => {
          heardAtMs = world.nowMs;
          if (!isOver) action();
        };
        // In the order in which they were sent, as over one connection.
        contact.lastMs = Math.max(contact.lastMs, world.nowMs + latency());
        world.after(contact.lastMs - world.nowMs, arrive, undefined);
      },
      lastMs: 0,
    };
    const watch = () => {
      if (isOver) return;
      if (world.nowMs - heardAtMs < silenceMs) {
        world.after(5000, watch, undefined);
        return;
      }
      world.after(latency(), () => gone.abort(new ConnectionLost("The client left.")), life.host);
      end(() => reject(new ConnectionLost("There was no sign of life.")));
    };
    world.after(5000, watch, undefined);
    life.onEnd.add(onEnd);
    const begin = () => {
      const { service } = life;
      if (!service) return;
      // Replies come after all that was delivered before them.
      work(service, contact).then(
        (value) => contact.deliver(() => end(() => resolve(value))),
        (error: unknown) => contact.deliver(() => end(() => reject(error))),
      );
    };
    if (life.host.isGone) onEnd();
    else world.after(latency(), begin, life.host);
    return promise;
  }
}

/** One connection of a client to a process. */
export interface Contact {
  /** Aborted when the client leaves. */
  readonly gone: AbortSignal;
  /** Brings something to the client, unless it is gone. */
  readonly deliver: (action: () => void) => void;
  lastMs: number;
}

/** A stream to a client. */
export function sinkFor(contact: Contact, take: (data: string) => void): EventSink {
  return { drained: undefined, send: (_type, json) => contact.deliver(() => take(json)) };
}

function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof ConnectionLost || isStoreError(error, "unavailable")) return true;
  if (isStoreError(error, "lost_lease")) return true;
  return (
    error instanceof ApiError && (error.status >= 500 || error.status === 429) && error.code !== "interrupted"
  );
}
