// Which servers are checked: those that the config, the environment and the flags name, and the usual ports.

import type { ModelProvider } from "rondo";
import type { Access } from "../../check/open-model.ts";
import { ConfigError } from "../../config/config-error.ts";
import { type CandidateOptions, candidates, placeOf, serverNames } from "../../config/discover.ts";
import { isProvider } from "../../config/model-schema.ts";
import type { Environment } from "../../config/overrides.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";

export interface ServerToCheck {
  readonly type: "model" | "rondo";
  /** What names it. */
  readonly source: string;
  /** Whether it was named; else it is at a usual port, and may well be missing. */
  readonly isNamed: boolean;
  readonly access: Access;
  /** The only model of it that counts. Default: those that it lists. */
  readonly model?: string;
  /** The model itself, if the config made it in code: then no server is asked. */
  readonly provider?: ModelProvider;
}

export interface ModelServersOptions extends CandidateOptions {
  /** Undefined if it is invalid. */
  readonly config: ServerConfig | undefined;
  /** As typed: then no other server is checked. */
  readonly modelUrl: string | undefined;
}

export function modelServers({ config, modelUrl: typed, ...options }: ModelServersOptions): ServerToCheck[] {
  const { env } = options;
  const named = (source: string, access: Access): ServerToCheck => {
    return { type: "model", source, isNamed: true, access };
  };
  const flag = typed?.trim();
  const url = flag || env[modelUrl.env]?.trim();
  // The config has it too, with its key, unless the config is invalid.
  const apiKey = env[modelApiKey.env]?.trim();
  const byUrl = url && (config?.endpoints[0] ?? { url, ...(apiKey ? { apiKey } : {}) });
  if (byUrl && flag) return [named("--model-url", byUrl)];
  const endpoints = byUrl
    ? [named(modelUrl.env, byUrl)]
    : (config?.endpoints ?? []).map((access, index) => named(`endpoints[${index}] of the config`, access));
  const models = Object.entries(config?.models ?? {}).map(([name, model]) => {
    const source = `models.${name} of the config`;
    return isProvider(model)
      ? { ...named(source, { url: model.endpoint }), model: name, provider: model }
      : { ...named(source, model), model: model.model ?? name };
  });
  const all = [...endpoints, ...models.filter(({ provider }) => !provider)];
  const known = new Set(all.map(({ access }) => placeOf(access.url)));
  const usual = candidates({ ...options, env: { ...env, [modelUrl.env]: undefined } })
    .filter((candidate) => !known.has(placeOf(candidate.url)))
    .map(({ kind, url }): ServerToCheck => {
      // Its port shows the kind, unless OLLAMA_HOST moved it.
      const isMoved = kind === "ollama" && env["OLLAMA_HOST"]?.trim();
      const access = isMoved ? { url, server: kind } : { url };
      return { type: "model", source: `the usual place of ${serverNames[kind]}`, isNamed: false, access };
    });
  return [...all, ...usual, ...models.filter(({ provider }) => provider)];
}

export function rondoServer(env: Environment, flag: string | undefined, port = 4500): ServerToCheck {
  const apiKey = env["RONDO_API_KEY"]?.trim();
  const at = (source: string, url: string): ServerToCheck => {
    return { type: "rondo", source, isNamed: true, access: { url, ...(apiKey ? { apiKey } : {}) } };
  };
  if (flag !== undefined) return at("--server", checkUrl("--server", flag));
  const variable = env["RONDO_SERVER"]?.trim();
  if (variable) return at("RONDO_SERVER", checkUrl("RONDO_SERVER", variable));
  return { ...at("the usual place of Rondo", `http://127.0.0.1:${port}`), isNamed: false };
}

function checkUrl(source: string, url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  const expected = "expected an http or https URL, such as http://localhost:4500";
  throw new ConfigError([{ key: "server", source, message: `${expected}, got ${JSON.stringify(url)}.` }]);
}
