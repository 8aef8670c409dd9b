// What to serve without a config: the model servers of this machine, or else the demo model.

import { demoModel } from "rondo/demo";
import { chatModels } from "../config/chat-models.ts";
import { resolveConfig } from "../config/check-config.ts";
import { discoverModelServers, type FoundServer } from "../config/discover.ts";
import { labelOf } from "../config/endpoint.ts";
import type { Environment } from "../config/overrides.ts";
import type { ServerConfig } from "../config/schema.ts";
import { modelUrl } from "../config/settings.ts";
import type { CheckEndpoints } from "./check-endpoints.ts";

/** Finds model servers. Tests have their own. */
export type Discover = (options: { env: Environment }) => Promise<readonly FoundServer[]>;

export interface FilledConfig {
  readonly config: ServerConfig;
  /** What was found; undefined if the config says what to serve. */
  readonly found: readonly FoundServer[] | undefined;
}

/**
 * The config as it is, or with the model servers of this machine. A server that only the environment names is one of
 * them; one without models is reported, but not served. If no model can chat, the demo model does.
 */
async function fillModels(
  config: ServerConfig,
  env: Environment,
  discover: Discover = discoverModelServers,
): Promise<FilledConfig> {
  const named = env[modelUrl.env]?.trim();
  const isSettled =
    config.endpoints.some(({ url }) => url !== named) || Object.keys(config.models).length > 0;
  if (isSettled) return { config, found: undefined };
  const found = await discover({ env });
  const endpoints = found
    .filter(({ url, models }) => models.length > 0 && url !== named)
    .map(({ url, kind }) => ({ url, ...(kind === "other" ? {} : { server: kind }) }));
  const all = [...config.endpoints, ...endpoints];
  const filled = all.length > 0 ? resolveConfig({ ...config, endpoints: all }) : config;
  // A named server is not replaced: its models come when it starts.
  const canChat = config.endpoints.length > 0 || found.some(({ models }) => chatModels(models).length > 0);
  return { config: canChat ? filled : withDemo(filled), found };
}

/** The models of a config, as the CLI finds and shows them. */
export interface FoundModels extends FilledConfig {
  /** The config before models of this machine were added to it. */
  readonly given: ServerConfig;
  readonly warnings: ReadonlyMap<string, string>;
}

/** Checks the model servers of a config, and fills in those of this machine if it has none. */
export async function findModels(
  loaded: ServerConfig,
  hasDemo: boolean,
  env: Environment,
  { check, discover }: { check: CheckEndpoints; discover?: Discover | undefined },
): Promise<FoundModels> {
  const { config: reached, warnings } = await check(loaded);
  const given = hasDemo ? withDemo(reached) : reached;
  const filled = await fillModels(given, environmentFor(reached, loaded, env), discover);
  return { ...filled, given, warnings };
}

/** The environment, with the path of its model server as corrected. */
function environmentFor(reached: ServerConfig, loaded: ServerConfig, env: Environment): Environment {
  const index = loaded.endpoints.findIndex(({ url }) => url === env[modelUrl.env]?.trim());
  return index < 0 ? env : { ...env, [modelUrl.env]: reached.endpoints[index]?.url };
}

/** The models of a config in words. */
export function modelsOf({ endpoints, models }: ServerConfig): string {
  const names = Object.keys(models);
  const served = [
    ...(names.length === 0 ? [] : [names.join(", ")]),
    ...endpoints.map((endpoint) => `all models of ${labelOf(endpoint.url)}`),
  ];
  return served.join(" and ");
}

/** The config with the demo model as one of its models, slow enough to watch it stream. */
function withDemo(config: ServerConfig): ServerConfig {
  return { ...config, models: { ...config.models, demo: demoModel({ delayMs: 15 }) } };
}
