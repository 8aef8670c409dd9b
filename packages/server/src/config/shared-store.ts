// Refuses roles that need a store which several processes share, with a store that belongs to one.

import { isPostgresUrl, storeLabel } from "../store/store-label.ts";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig } from "./schema.ts";

/** Throws a `ConfigError` if no process could work on the background runs that this one accepts. */
export function checkRunsElsewhere({ runs, store }: Pick<ServerConfig, "runs" | "store">): void {
  if (runs.enabled || mayBeShared(store)) return;
  throw new ConfigError([
    {
      key: "runs.enabled",
      source: "not possible with this store",
      message: `no other process can work on the background runs of ${storeLabel(store)}. Leave out --no-worker, or use a store that servers and workers share, such as postgres://USER@HOST/DATABASE.`,
    },
  ]);
}

/** Throws a `ConfigError` if there is nothing that a worker could share with a server. */
export function checkWorkerStore({ store }: Pick<ServerConfig, "store">): void {
  if (mayBeShared(store)) return;
  throw new ConfigError([
    {
      key: "store",
      source: "not possible for a worker",
      message: `${storeLabel(store)} belongs to one process, and \`rondo serve\` works on its background runs itself. Name a store that servers and workers share with --store postgres://USER@HOST/DATABASE or RONDO_STORE.`,
    },
  ]);
}

/** A store made in code may be shared. */
function mayBeShared(store: ServerConfig["store"]): boolean {
  return typeof store !== "string" || isPostgresUrl(store);
}
