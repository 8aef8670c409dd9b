// Three nodes, the PostgreSQL behind them, and the model that they ask.

import { setTimeout as wait } from "node:timers/promises";
import {
  createTestDatabase,
  databaseUrl,
  type PostgresServer,
  startPostgresServer,
} from "../../store/postgres/testkit/postgres-server.ts";
import { tempFolder } from "../../store/testkit/temp-folder.ts";
import { type Effect, readEffects } from "./entry-tools.ts";
import { NodeProcess } from "./node-process.ts";
import type { Random } from "./random.ts";
import { type StoryModel, startStoryModel } from "./story-model.ts";

export interface ClusterOptions {
  readonly nodes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly onEffect?: (effect: Effect) => void;
}

export class NodeCluster implements AsyncDisposable {
  readonly nodes: readonly NodeProcess[];
  readonly model: StoryModel;
  readonly postgres: PostgresServer;
  /** The database, past the proxies. */
  readonly databaseUrl: string;
  readonly #resources: AsyncDisposableStack;
  readonly #folder: string;

  private constructor(
    parts: Pick<NodeCluster, "nodes" | "model" | "postgres" | "databaseUrl">,
    resources: AsyncDisposableStack,
    folder: string,
  ) {
    this.nodes = parts.nodes;
    this.model = parts.model;
    this.postgres = parts.postgres;
    this.databaseUrl = parts.databaseUrl;
    this.#resources = resources;
    this.#folder = folder;
  }

  static async start({ nodes: count = 3, env = {}, onEffect }: ClusterOptions = {}): Promise<NodeCluster> {
    await using starting = new AsyncDisposableStack();
    const folder = starting.use(tempFolder()).path;
    const postgres = starting.use(await startPostgresServer());
    const url = await createTestDatabase(postgres);
    const name = new URL(url).pathname.slice(1);
    const model = starting.use(await startStoryModel());
    const start = async () =>
      starting.use(
        await NodeProcess.start({
          folder,
          modelUrl: model.url,
          databasePort: postgres.port,
          storeUrl: (port) => databaseUrl(port, name),
          env,
          ...(onEffect && { onEffect }),
        }),
      );
    // All at once, on an empty database.
    const nodes = await Promise.all(Array.from({ length: count }, start));
    return new NodeCluster({ nodes, model, postgres, databaseUrl: url }, starting.move(), folder);
  }

  effects(): Effect[] {
    return readEffects(`${this.#folder}/effects.jsonl`);
  }

  /** The URL of a node that serves, other than `not` if there is one. */
  async url(chance: Random, not?: NodeProcess): Promise<string> {
    while (true) {
      const serving = this.nodes.filter(({ url, isFrozen }) => url !== undefined && !isFrozen);
      const others = serving.filter((node) => node !== not);
      const urls = (others.length > 0 ? others : serving).flatMap(({ url }) => url ?? []);
      if (urls.length > 0) return chance.pick(urls);
      await wait(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }
}
