// What is between a node and the database: requests and replies take time, get lost, or come after the node is gone; a
// lost reply leaves it open whether the request was done. News between nodes get lost, late or twice.

import { LocalNews, type News } from "../../store/news.ts";
import type { Lease } from "../../store/run-queue.ts";
import type { NewResponse, RunWrite, Store, StoredEvent } from "../../store/store.ts";
import { isStoreError } from "../../store/store-error.ts";
import { type StoreHook, type StoreMethod, storeAround } from "../../store/testkit/store-around.ts";
import { type Database, type Session, unavailable } from "./database.ts";
import type { History } from "./history.ts";
import type { PlantedFault } from "./planted-faults.ts";
import type { Host, World } from "./world.ts";

export interface NetworkSettings {
  /** The longest time of a message between a node and the database. */
  readonly latencyMs: number;
  /** Of 1,000 messages to or from the database, so many are lost with their connection. */
  readonly lostPerMille: number;
  /** Of 1,000 news to other nodes, so many are lost, and so many come twice or late. */
  readonly lostNewsPerMille: number;
  readonly lateNewsPerMille: number;
  readonly pollMs: number;
}

/** All that the nodes share. */
export interface Network {
  readonly world: World;
  readonly history: History;
  readonly database: Database;
  readonly settings: NetworkSettings;
  readonly faults: ReadonlySet<PlantedFault>;
  /** The connections of processes that are there. */
  readonly connections: Set<Connection>;
}

/** How long a client of the database waits before it gives up on a reply. */
const replyTimeoutMs = 3000;

export class Connection {
  readonly host: Host;
  /** The store as the node has it. */
  readonly store: Store;
  readonly session: Session;
  /** Whether nothing gets through. */
  isCut = false;
  readonly #network: Network;
  readonly #local = new LocalNews();

  constructor(network: Network, host: Host) {
    this.#network = network;
    this.host = host;
    this.session = { name: host.name, skewMs: host.skewMs, workers: new Set() };
    const hook: StoreHook = (method, call, args) => this.#request(method, call, args);
    const news: News = {
      publish: (topic, events) => this.#publish(topic, events),
      subscribe: (topic, listener) => this.#local.subscribe(topic, listener),
    };
    const pollMs = network.faults.has("no polling") ? undefined : network.settings.pollMs;
    const around = storeAround(network.database.store, hook);
    const own: Partial<Store> = {
      news,
      flushWindowMs: 5,
      isShared: true,
      ...(pollMs !== undefined && { pollMs }),
    };
    this.store = new Proxy(around, {
      get: (target, name) => (name in own ? own : target)[name as keyof Store],
      has: (target, name) => name in own || name in target,
    });
  }

  /** News that others published. */
  receive(topic: string, events?: readonly StoredEvent[]): void {
    if (!this.isCut) this.#local.publish(topic, events);
  }

  #request(method: StoreMethod, call: () => Promise<unknown>, args: readonly unknown[]): Promise<unknown> {
    const { world, database, settings, faults } = this.#network;
    const { chance } = world;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const delayMs = () => chance.integer(0, settings.latencyMs);
    const isLost = () => this.isCut || database.isDown || chance.integer(1, 1000) <= settings.lostPerMille;
    const settle = (afterMs: number, action: () => void) => world.after(afterMs, action, this.host);
    const fail = (why: string) => {
      const afterMs = chance.integer(0, 2) === 0 ? delayMs() : replyTimeoutMs;
      settle(afterMs, () => reject(unavailable(why)));
    };
    this.#rememberWorker(method, args);
    if (method === "commit" && faults.has("news before commit")) this.#publishEarly(args);
    const apply = async () => {
      if (isLost()) return fail("the request was lost");
      try {
        const result = await database.apply(this.session, method, call, args);
        if (method === "create" && faults.has("job outside of the transaction")) this.#enqueue(args);
        if (isLost()) {
          this.#network.history.figures.unknownOutcomes += 1;
          if (method === "commit" && faults.has("unknown commit repeated")) this.#repeat(args);
          fail("the reply was lost");
        } else settle(delayMs(), () => resolve(result));
      } catch (error) {
        settle(delayMs(), () => reject(error));
      }
    };
    world.after(delayMs(), () => void apply(), undefined);
    return promise;
  }

  #rememberWorker(method: StoreMethod, args: readonly unknown[]): void {
    if (method === "claim") this.session.workers.add(args[0] as string);
    if (method === "create") this.session.workers.add(args[1] as string);
  }

  #publish(topic: string, events?: readonly StoredEvent[]): void {
    const { world, settings, connections } = this.#network;
    const { chance } = world;
    this.#local.publish(topic, events);
    if (this.isCut) return;
    for (const other of connections) {
      if (other === this || chance.integer(1, 1000) <= settings.lostNewsPerMille) continue;
      const isLate = chance.integer(1, 1000) <= settings.lateNewsPerMille;
      const send = (afterMs: number) => world.after(afterMs, () => other.receive(topic), other.host);
      send(chance.integer(0, settings.latencyMs) + (isLate ? chance.integer(0, 5000) : 0));
      if (isLate) send(chance.integer(0, 5000));
    }
  }

  // Planted faults.

  #publishEarly([lease, write]: readonly unknown[]): void {
    const { events = [] } = write as RunWrite;
    const { responseId } = lease as Lease;
    for (const other of this.#network.connections)
      this.#network.world.after(0, () => other.receive(responseId, events), other.host);
  }

  #enqueue([response]: readonly unknown[]): void {
    const { world, database, settings } = this.#network;
    const { id } = response as NewResponse;
    const isLost = () => world.chance.integer(1, 1000) <= settings.lostPerMille;
    const send = () => {
      if (!this.isCut && !database.isDown && !isLost()) database.enqueueLate(id);
    };
    // The node sends it when it has the reply, if it still can.
    world.after(world.chance.integer(settings.latencyMs, 300), send, this.host);
  }

  #repeat([lease, write]: readonly unknown[]): void {
    const { world, database } = this.#network;
    const again = (shift: number) => {
      const { events = [], output: _, update: _update, ...rest } = write as RunWrite;
      const moved = events.map(({ sequence, data }) => ({ sequence: sequence + shift, data }));
      const call = { ...rest, events: moved };
      database
        .apply(this.session, "commit", () => database.store.commit(lease as Lease, call), [lease, call])
        .catch((error: unknown) => {
          if (isStoreError(error, "out_of_order") && shift === 0) again(events.length);
        });
    };
    world.after(1, () => again(0), undefined);
  }
}
