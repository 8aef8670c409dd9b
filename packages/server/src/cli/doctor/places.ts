// Where models may be: what the config, the environment and the flags name, and the usual ports of this machine.

import type { ModelProvider } from "rondo";
import { type CandidateOptions, candidates, placeOf } from "../../config/discover.ts";
import { type EndpointConfig, isProvider } from "../../config/model-schema.ts";
import { labelOf } from "../../config/models.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";

export type Access = Pick<EndpointConfig, "url"> & Partial<EndpointConfig>;

export interface Place {
  /** Who has named it. */
  readonly source: string;
  /** Whether someone has named it; else it is one of the usual ports, and may well be empty. */
  readonly isNamed: boolean;
  readonly access: Access;
  /** The only model of it that counts. Default: those that it lists. */
  readonly model?: string;
}

/** A model that the config has made in code. */
export interface MadeModel {
  readonly source: string;
  readonly name: string;
  readonly provider: ModelProvider;
}

export interface PlaceOptions extends CandidateOptions {
  /** Undefined if it cannot be used. */
  readonly config: ServerConfig | undefined;
  /** As typed: then nothing else is looked at. */
  readonly modelUrl: string | undefined;
}

export function placesOf({ config, modelUrl: typed, ...options }: PlaceOptions): Place[] {
  const { env } = options;
  const variable = env[modelUrl.env]?.trim();
  const named: Place[] = [];
  const only = typed?.trim() || variable;
  if (only) {
    const source = typed?.trim() ? "--model-url" : modelUrl.env;
    // The config has it too, with its key, unless something else in it is wrong.
    const apiKey = env[modelApiKey.env]?.trim();
    const access = config?.endpoints[0] ?? { url: only, ...(apiKey ? { apiKey } : {}) };
    named.push({ source, isNamed: true, access });
    if (typed?.trim()) return named;
  } else {
    const endpoints = config?.endpoints ?? [];
    for (const [index, access] of endpoints.entries())
      named.push({ source: `endpoints[${index}] of the config`, isNamed: true, access });
  }
  for (const [name, access] of Object.entries(config?.models ?? {})) {
    if (isProvider(access)) continue;
    const { model = name } = access;
    named.push({ source: `models.${name} of the config`, isNamed: true, access, model });
  }
  const known = new Set(named.map(({ access }) => placeOf(access.url)));
  const usual = candidates({ ...options, env: { ...env, [modelUrl.env]: undefined } })
    .filter(({ url }) => !known.has(placeOf(url)))
    .map(({ kind, url }): Place => {
      // Its port tells, unless OLLAMA_HOST has moved it.
      const isMoved = kind === "ollama" && env["OLLAMA_HOST"]?.trim();
      const access = isMoved ? { url, server: kind } : { url };
      return { source: `the usual place of ${titles[kind]}`, isNamed: false, access };
    });
  return [...named, ...usual];
}

export function madeModels(config: ServerConfig | undefined): MadeModel[] {
  return Object.entries(config?.models ?? {}).flatMap(([name, model]) =>
    isProvider(model) ? [{ source: `models.${name} of the config`, name, provider: model }] : [],
  );
}

/** An address without secrets; what is none stays as it is. */
export function label(url: string): string {
  return URL.canParse(url) ? labelOf(url) : url;
}

const titles = {
  ollama: "Ollama",
  lmstudio: "LM Studio",
  llamacpp: "llama.cpp",
  vllm: "vLLM",
  other: "others",
} as const;
