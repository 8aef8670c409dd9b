// What to serve without a config: the model servers of this machine, or else the demo model.

import { demoModel } from "rondo/demo";
import { chatModels } from "../config/chat-models.ts";
import { resolveConfig } from "../config/check-config.ts";
import { discoverModelServers, type FoundServer } from "../config/discover.ts";
import type { Environment } from "../config/overrides.ts";
import type { ServerConfig } from "../config/schema.ts";
import { modelUrl } from "../config/settings.ts";

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
export async function fillModels(
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

/** The config with the demo model as one of its models, slow enough to watch it stream. */
export function withDemo(config: ServerConfig): ServerConfig {
  return { ...config, models: { ...config.models, demo: demoModel({ delayMs: 15 }) } };
}
