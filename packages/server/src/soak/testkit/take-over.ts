// How long it takes until another node goes on with a run, and until a cancel reaches the node that works.

import { setTimeout as wait } from "node:timers/promises";
import { requestFor } from "./clients.ts";
import { ClusterClients } from "./cluster-clients.ts";
import type { Effect } from "./entry-tools.ts";
import type { NodeCluster } from "./node-cluster.ts";
import type { NodeProcess } from "./node-process.ts";
import type { ReadResponse } from "./review.ts";
import type { Story } from "./story.ts";

export interface RunAtWork {
  readonly id: string;
  readonly story: Story;
  readonly node: NodeProcess;
  readonly followed: Promise<ReadResponse>;
}

/** What is measured, with the clients that do it. */
export class TakeOverTrial {
  readonly #cluster: NodeCluster;
  readonly #clients: ClusterClients;

  constructor(cluster: NodeCluster, seed: number) {
    this.#cluster = cluster;
    this.#clients = new ClusterClients(cluster, { seed, count: 0, isIdle: true });
  }

  /** Background runs in the middle of their last answer: those of one node, and all. */
  async begin(count: number): Promise<{ node: NodeProcess; runs: RunAtWork[]; all: RunAtWork[] }> {
    const runs = await Promise.all(Array.from({ length: count * 2 }, () => this.#beginOne()));
    const groups = Map.groupBy(runs, ({ node }) => node);
    const [node, most = []] = [...groups].toSorted((a, b) => b[1].length - a[1].length)[0] ?? [];
    if (!node) throw new Error("No run has begun.");
    return { node, runs: [...most], all: runs };
  }

  /** Lets a node fail, and tells for each of its runs when it went on elsewhere. */
  async takeOver(
    { runs }: { runs: readonly RunAtWork[] },
    failure: () => Promise<void> | void,
    limitMs: number,
  ): Promise<number[]> {
    const { model } = this.#cluster;
    const times = new Map<string, number>();
    const names = new Set(runs.map(({ story }) => story.name));
    const start = performance.now();
    model.onAsked = ({ name }) => {
      if (names.has(name) && !times.has(name)) times.set(name, performance.now() - start);
    };
    void failure();
    while (times.size < names.size && performance.now() - start < limitMs) await wait(5);
    model.onAsked = () => {};
    return [...names].map((name) => times.get(name) ?? Infinity);
  }

  /** From the request on another node until the node that works has left the model. */
  async cancel({ id, story, node, followed }: RunAtWork): Promise<number> {
    const { model, nodes } = this.#cluster;
    const left = Promise.withResolvers<number>();
    model.onLeft = ({ name }) => {
      if (name === story.name) left.resolve(performance.now());
    };
    const other = nodes.find((it) => it !== node && it.url !== undefined);
    const start = performance.now();
    await fetch(`${other?.url}/v1/responses/${id}/cancel`, { method: "POST" });
    const ms = (await Promise.race([left.promise, wait(5000, Infinity)])) - start;
    model.onLeft = () => {};
    await followed.catch(() => {}); // a follower would look for its stream for ever when the nodes are gone
    return ms;
  }

  async #beginOne(): Promise<RunAtWork> {
    const { nodes } = this.#cluster;
    const story = this.#clients.newStory({ steps: 1, length: 1500, paceMs: 30, toolMs: 5 });
    const { id } = await this.#clients.create({ ...requestFor(story), background: true });
    const reached = Promise.withResolvers<void>();
    let isAtEnd = false;
    const followed = this.#clients.follow(id, ({ event }) => {
      isAtEnd ||= event === "response.mcp_call.completed" || event === "response.mcp_call.failed";
      if (isAtEnd && event === "response.output_text.delta") reached.resolve();
    });
    followed.catch(() => {});
    await Promise.race([reached.promise, followed]);
    const pid = Number(pidOf(this.#cluster.effects(), story));
    const node = nodes.find((it) => it.pid === pid);
    if (!node) throw new Error(`No node has the process ${pid} of '${story.name}'.`);
    return { id, story, node, followed };
  }
}

/** The process that ran the last tool of a story. */
function pidOf(effects: readonly Effect[], { name }: Story): string | undefined {
  return effects.findLast(({ story }) => story === name)?.mark.split(".")[0];
}

/** The value below which this part of the values is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
