// One simulation: nodes, database, network, clients and failures follow from a seed.

import type { ConversationEntry } from "../../store/conversation-store.ts";
import { historyFlaws } from "./checker.ts";
import { Clients } from "./clients.ts";
import { Cluster } from "./cluster.ts";
import type { Connection, Network } from "./connection.ts";
import { Database } from "./database.ts";
import { History } from "./history.ts";
import { SimNode } from "./node.ts";
import type { PlantedFault } from "./planted-faults.ts";
import { simulated, World } from "./world.ts";

export interface SimulationReport {
  readonly seed: number;
  /** What is wrong; nothing if all is well. */
  readonly flaws: readonly string[];
  /** What happened, in its order. */
  readonly lines: readonly string[];
  /** The same for the same seed. */
  readonly trace: number;
  readonly figures: History["figures"] & {
    readonly events: number;
    readonly responses: number;
    readonly virtualMs: number;
  };
}

/** Failures begin within this time. Then all is well again, and everything must come to its end. */
const troubleMs = 12_000;
const limitMs = 15 * 60_000;
const limitEvents = 60_000;

export function simulate(seed: number, faults: readonly PlantedFault[] = []): Promise<SimulationReport> {
  return simulated(async () => {
    const world = new World(seed);
    const restore = world.install();
    try {
      return await play(world, seed, new Set(faults));
    } finally {
      restore();
    }
  });
}

async function play(
  world: World,
  seed: number,
  planted: ReadonlySet<PlantedFault>,
): Promise<SimulationReport> {
  const history = new History();
  const { chance } = world;
  const database = new Database(world, history, planted);
  const isRough = chance.integer(0, 2) === 0;
  const network: Network = {
    world,
    history,
    database,
    faults: planted,
    connections: new Set<Connection>(),
    settings: {
      latencyMs: chance.pick([1, 3, 20, 100]),
      lostPerMille: isRough ? chance.integer(1, 20) : 0,
      lostNewsPerMille: chance.pick([0, 0, 100, 1000]),
      lateNewsPerMille: chance.pick([0, 0, 200]),
      pollMs: 1000,
    },
  };
  if (isRough) history.outOfTouch.push({ life: undefined, fromMs: 0, untilMs: limitMs });
  const nodes = ["a", "b", "c"].map((name) => new SimNode(network, name));
  for (const node of nodes) node.start();
  for (let count = chance.integer(0, 6); count > 0; count--)
    world.after(chance.integer(0, troubleMs), () => fail(network, nodes), undefined);
  const clients = new Clients(new Cluster(network, nodes));
  let busy = 0;
  let problem: unknown;
  for (let count = chance.integer(3, 7); count > 0; count--) {
    busy += 1;
    clients.act().then(
      () => (busy -= 1),
      (error: unknown) => {
        busy -= 1;
        problem = error;
        history.flaws.push(`a client got an error: ${String((error as Error).stack ?? error)}`);
      },
    );
  }
  const isDone = () => busy === 0 && database.activeCount === 0;
  const isOver = () => problem !== undefined || (isDone() && world.nowMs >= troubleMs);
  const hasEnded = (await world.run(isOver, limitMs, limitEvents)) || isDone();
  if (!hasEnded)
    history.flaws.push(`after ${world.nowMs} ms, ${busy} clients and ${database.activeCount} responses wait`);
  const conversations = new Map<string, readonly ConversationEntry[]>();
  for (const { conversation } of history.responses.values()) {
    if (conversation === undefined || conversations.has(conversation)) continue;
    conversations.set(
      conversation,
      (await database.store.readConversation("ada", conversation))?.entries ?? [],
    );
  }
  return {
    seed,
    flaws: historyFlaws(history, conversations),
    lines: history.lines,
    trace: world.trace,
    figures: {
      ...history.figures,
      events: world.eventCount,
      responses: history.responses.size,
      virtualMs: world.nowMs,
    },
  };
}

/** Something fails, and works again after a while. */
function fail({ world, history, database, connections }: Network, nodes: readonly SimNode[]): void {
  const { chance } = world;
  const node = chance.pick(nodes);
  const laterMs = chance.pick([10, 500, 5000, 20_000, 40_000]);
  const restart = () => world.after(chance.integer(100, 8000), () => node.start(), undefined);
  switch (chance.integer(0, 6)) {
    case 0:
    case 1:
      node.kill();
      restart();
      break;
    case 2:
      node.terminate();
      world.after(11_000, () => node.start(), undefined);
      break;
    case 3:
      node.freeze(laterMs);
      break;
    case 4:
      // The connection breaks, and the next one works.
      node.cut(1, true);
      break;
    case 5:
      node.cut(laterMs, chance.integer(0, 1) === 0);
      break;
    default:
      database.isDown = true;
      for (const { session } of connections) database.endSession(session);
      history.outOfTouch.push({ life: undefined, fromMs: world.nowMs, untilMs: world.nowMs + laterMs });
      history.note(world.nowMs, `the database is down for ${laterMs} ms`);
      world.after(
        laterMs,
        () => {
          database.isDown = false;
        },
        undefined,
      );
  }
}
