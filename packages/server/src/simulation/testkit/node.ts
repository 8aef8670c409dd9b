// A node: processes of the real service, one after the other, each with a connection to the database. A process can be
// killed, stopped, frozen and cut off.

import { Executors } from "../../executor/executors.ts";
import { Conversations } from "../../run/conversations.ts";
import { Responses } from "../../run/responses.ts";
import { jobsTopic } from "../../store/news.ts";
import { Connection, type Network } from "./connection.ts";
import { askedExecutor, storyModel, storyTools } from "./story-tools.ts";
import { Host } from "./world.ts";

const leaseMs = 9000;

/** What clients can ask of a process. */
export interface Service {
  readonly responses: Responses;
  readonly conversations: Conversations;
}

/** One process. */
export interface Life {
  readonly host: Host;
  readonly connection: Connection;
  /** Set when it serves. */
  service: Service | undefined;
  /** Called when it ends. */
  readonly onEnd: Set<() => void>;
}

export class SimNode {
  readonly name: string;
  readonly #network: Network;
  #life: Life | undefined;
  #lives = 0;

  constructor(network: Network, name: string) {
    this.#network = network;
    this.name = name;
  }

  /** The process that runs now. */
  get life(): Life | undefined {
    return this.#life;
  }

  start(): void {
    const { world, history, connections } = this.#network;
    if (this.#life) return;
    const skewMs = world.chance.pick([0, 0, -20_000, 15_000, 3_600_000]);
    const host = new Host(`${this.name}.${++this.#lives}`, skewMs);
    const life: Life = {
      host,
      connection: new Connection(this.#network, host),
      service: undefined,
      onEnd: new Set(),
    };
    connections.add(life.connection);
    this.#life = life;
    history.note(world.nowMs, `${host.name} starts`);
    world.in(host, () => void this.#serve(life));
  }

  /** Ends the process without a word. The database notices that its connections are closed. */
  kill(): void {
    const life = this.#life;
    if (!life) return;
    this.#network.history.note(this.#network.world.nowMs, `${life.host.name} is killed`);
    this.#end(life, life.connection.isCut ? undefined : this.#network.world.chance.integer(0, 20));
  }

  /** Asks the process to end, and lets its runs go. */
  terminate(): void {
    const life = this.#life;
    if (!life) return;
    const { world, history } = this.#network;
    history.note(world.nowMs, `${life.host.name} is asked to end`);
    const drained = world.in(life.host, async () => life.service?.responses.drain(200));
    void drained.then(() => this.#end(life, 0)).catch(() => this.#end(life, 0));
    // A service manager does not wait for ever.
    world.after(10_000, () => this.#end(life, 0), undefined);
  }

  freeze(ms: number): void {
    const life = this.#life;
    if (!life || life.host.isFrozen) return;
    const { world, history } = this.#network;
    const pause = { life: life.host.name, fromMs: world.nowMs, untilMs: world.nowMs + ms };
    history.frozen.push(pause);
    history.note(world.nowMs, `${life.host.name} is frozen for ${ms} ms`);
    life.host.isFrozen = true;
    world.after(ms, () => world.thaw(life.host), undefined);
  }

  /** Cuts it off from the database for a while. `isNoticed`: the database sees that at once. */
  cut(ms: number, isNoticed: boolean): void {
    const life = this.#life;
    if (!life) return;
    const { world, history } = this.#network;
    history.note(world.nowMs, `${life.host.name} is cut off for ${ms} ms`);
    history.outOfTouch.push({ life: life.host.name, fromMs: world.nowMs, untilMs: world.nowMs + ms });
    life.connection.isCut = true;
    if (isNoticed) this.#noticeEnd(life);
    world.after(
      ms,
      () => {
        life.connection.isCut = false;
      },
      undefined,
    );
  }

  async #serve(life: Life): Promise<void> {
    const { world, history } = this.#network;
    const { store } = life.connection;
    const stage = { world, history, life: life.host.name };
    const executors = new Executors({ tools: storyTools(stage), executors: [askedExecutor(stage)] });
    const provider = storyModel(stage);
    while (!life.service) {
      try {
        const responses = await Responses.start({
          store,
          models: {
            resolve: async () => ({ name: "story", provider }),
            list: async () => [{ id: "story", ownedBy: "rondo" }],
          },
          executors,
          maxAgenticTurns: 20,
          maxRepeats: 100,
          limits: { maxItems: 1000, maxTools: 128 },
          isStrict: true,
          conversations: "queue",
          runs: { concurrency: 3, leaseMs, maxAttempts: 1000 },
          observer: {
            warn: (message, { error }) =>
              history.note(
                world.nowMs,
                `${life.host.name}: ${message} ${error instanceof Error ? error.message : ""}`,
              ),
            loopEvent: () => {},
            traceEvent: () => {},
            runEnded: () => {},
          },
        });
        const limits = { maxItems: 1000 };
        life.service = { responses, conversations: new Conversations({ store, limits, executors }) };
      } catch (error) {
        history.note(world.nowMs, `${life.host.name} cannot start: ${String(error)}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  #end(life: Life, noticedAfterMs: number | undefined): void {
    if (life.host.isGone) return;
    const { world, connections } = this.#network;
    life.host.isGone = true;
    connections.delete(life.connection);
    if (this.#life === life) this.#life = undefined;
    for (const tell of life.onEnd) tell();
    if (noticedAfterMs !== undefined) world.after(noticedAfterMs, () => this.#noticeEnd(life), undefined);
  }

  /** The database sees that a connection is closed, and the other processes hear of it. */
  #noticeEnd({ connection }: Life): void {
    const { world, connections, database } = this.#network;
    database.endSession(connection.session);
    for (const other of connections)
      if (other !== connection)
        world.after(world.chance.integer(0, 5), () => other.receive(jobsTopic), other.host);
  }
}
