// What to serve where nobody has said: the model servers of this machine, or else a stand-in.

import { demoModel } from "rondo/demo";
import { resolveConfig } from "../config/check-config.ts";
import { discoverModelServers, type Found } from "../config/discover.ts";
import type { Environment } from "../config/overrides.ts";
import type { ServerConfig } from "../config/schema.ts";

/** Finds model servers. Tests bring their own. */
export type Discover = (options: { env: Environment }) => Promise<readonly Found[]>;

export interface Filled {
  readonly config: ServerConfig;
  /** What was found; undefined if the config has said what to serve. */
  readonly found: readonly Found[] | undefined;
}

/** The config as it is, or with what this machine has. A server without models is found, but not served. */
export async function fillModels(
  config: ServerConfig,
  env: Environment,
  discover: Discover = discoverModelServers,
): Promise<Filled> {
  if (config.endpoints.length > 0 || Object.keys(config.models).length > 0)
    return { config, found: undefined };
  const found = await discover({ env });
  const endpoints = found
    .filter(({ models }) => models.length > 0)
    .map(({ url, kind }) => ({ url, ...(kind === "other" ? {} : { server: kind }) }));
  if (endpoints.length > 0) return { config: resolveConfig({ ...config, endpoints }), found };
  // Slow enough to be seen.
  return { config: { ...config, models: { demo: demoModel({ delayMs: 15 }) } }, found };
}
