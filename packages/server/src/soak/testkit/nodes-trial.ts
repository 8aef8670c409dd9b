// The trial of several nodes: clients keep them busy, nodes are killed, frozen, cut off and stopped, PostgreSQL is
// restarted, and at the end everything that was kept and told must fit together.

import { setTimeout as wait } from "node:timers/promises";
import { ClusterClients } from "./cluster-clients.ts";
import { getJson } from "./follower.ts";
import type { NodeCluster } from "./node-cluster.ts";
import type { NodeProcess } from "./node-process.ts";
import { type Random, random } from "./random.ts";
import { review } from "./review.ts";

export interface NodesTrialOptions {
  readonly cluster: NodeCluster;
  readonly seed: number;
  readonly failures: number;
  /** How many background runs are kept going. Default: 4. */
  readonly clients?: number;
  /** How long a node is frozen or cut off when its runs are to be taken over. Default: 17,000. */
  readonly longMs?: number;
  /** Called after each failure. */
  readonly onFailure?: (count: number, runs: number) => void;
}

export interface NodesReport {
  /** What is wrong; nothing if all is well. */
  readonly flaws: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const kinds = [
  "kill",
  "freeze",
  "reset",
  "terminate",
  "kill",
  "cut",
  "delay",
  "restart",
  "kill",
  "silence",
  "terminate",
  "freeze",
] as const;

type Kind = (typeof kinds)[number];

/** Failures after which another node takes over, if they last. */
const lasting: readonly Kind[] = ["freeze", "cut", "silence"];

export async function runNodesTrial(options: NodesTrialOptions): Promise<NodesReport> {
  const { cluster, seed, failures, clients: count = 4, longMs = 17_000, onFailure } = options;
  const chance = random(seed);
  const clients = new ClusterClients(cluster, { seed, count });
  const counts: Record<Kind, number> & { long: number } = {
    kill: 0,
    freeze: 0,
    reset: 0,
    terminate: 0,
    cut: 0,
    delay: 0,
    restart: 0,
    silence: 0,
    long: 0,
  };
  /** The nodes that have a failure now. */
  const troubled = new Set<NodeProcess>();
  const pending: Promise<unknown>[] = [];
  let isRestarting = false;
  for (let index = 0; index < failures; index++) {
    await Promise.race([wait(chance.integer(50, 500)), clients.ended]);
    const kind = kinds[index % kinds.length] ?? "kill";
    counts[kind] += 1;
    if (kind === "restart") {
      if (isRestarting) continue;
      isRestarting = true;
      const restarted = restart(cluster, chance).finally(() => (isRestarting = false));
      pending.push(restarted);
    } else {
      const node = await freeNode(cluster, troubled, chance);
      troubled.add(node);
      // Some failures last until another node has taken the runs.
      const isLong = lasting.includes(kind) && counts[kind] % 8 === 1;
      if (isLong) counts.long += 1;
      const ms = isLong ? longMs : chance.integer(50, 1500);
      pending.push(fail(node, kind, ms, chance).finally(() => troubled.delete(node)));
    }
    onFailure?.(index + 1, clients.followed.length);
  }
  await Promise.all(pending);
  clients.stop();
  await clients.ended;

  const url = await cluster.url(chance);
  const { followed, foreground } = clients;
  const result = await review({
    url,
    followed,
    foreground,
    effects: cluster.effects(),
    model: cluster.model,
    hasSeveralNodes: true,
  });
  const flaws = [...clients.flaws, ...result.flaws, ...(await conversationFlaws(url, clients))];
  return { flaws, figures: { ...counts, ...clients.figures, ...result.figures } };
}

async function freeNode(
  { nodes }: NodeCluster,
  troubled: ReadonlySet<NodeProcess>,
  chance: Random,
): Promise<NodeProcess> {
  while (true) {
    const free = nodes.filter((node) => !troubled.has(node) && node.url !== undefined);
    if (free.length > 0) return chance.pick(free);
    await wait(20);
  }
}

async function restart({ postgres }: NodeCluster, chance: Random): Promise<void> {
  await postgres.stop("immediate");
  await wait(chance.integer(0, 800));
  await postgres.start();
}

async function fail(node: NodeProcess, kind: Kind, ms: number, chance: Random): Promise<void> {
  switch (kind) {
    case "kill":
      return node.kill();
    case "terminate":
      await node.terminate();
      return;
    case "freeze":
      node.freeze();
      await wait(ms);
      node.thaw();
      return;
    case "reset":
      node.proxy.reset();
      await wait(ms);
      return;
    case "cut":
      node.proxy.refuse();
      await wait(ms);
      node.proxy.heal();
      return;
    case "silence":
      node.proxy.silence();
      await wait(ms);
      node.proxy.heal();
      return;
    default:
      node.proxy.delayMs = chance.integer(5, 100);
      await wait(ms);
      node.proxy.delayMs = 0;
  }
}

/** The items of a conversation are those of its responses, one after the other, in the order of their creation. */
async function conversationFlaws(url: string, { conversations }: ClusterClients): Promise<string[]> {
  const flaws: string[] = [];
  for (const { id, responses } of conversations) {
    const { data } = await getJson<{ data: { id: string }[] }>(
      url,
      `/conversations/${id}/items?limit=100&order=asc`,
    );
    const expected: string[] = [];
    for (const response of responses) {
      const input = await getJson<{ data: { id: string }[] }>(
        url,
        `/responses/${response}/input_items?order=asc`,
      );
      const { output } = await getJson<{ output: { id: string }[] }>(url, `/responses/${response}`);
      expected.push(...input.data.map((item) => item.id), ...output.map((item) => item.id));
    }
    const found = data.map((item) => item.id);
    if (found.join() !== expected.slice(0, 100).join())
      flaws.push(`the conversation ${id} has the items ${found.join()} instead of ${expected.join()}`);
  }
  return flaws;
}
