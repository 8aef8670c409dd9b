// Finds the model servers of this machine: at their usual ports, and where the environment points.

import { learnEndpoint, listModels, ollamaBaseUrl } from "rondo/models";
import type { Environment } from "./overrides.ts";
import { modelApiKey, modelUrl } from "./settings.ts";

export interface FoundServer {
  readonly kind: "ollama" | "lmstudio" | "llamacpp" | "vllm" | "sglang" | "other";
  /** The base URL, which usually ends in `/v1`. */
  readonly url: string;
  /** Names in the server's order. May be empty. */
  readonly models: readonly string[];
}

/** What people call each kind. */
export const serverNames: Readonly<Record<FoundServer["kind"], string>> = {
  ollama: "Ollama",
  lmstudio: "LM Studio",
  llamacpp: "llama.cpp",
  vllm: "vLLM",
  sglang: "SGLang",
  other: "A model server",
};

const kinds = ["ollama", "lmstudio", "llamacpp", "vllm"] as const;

/** The default port of each kind of server. */
export type UsualPorts = Readonly<Partial<Record<(typeof kinds)[number], number>>>;

const usualPorts: UsualPorts = { ollama: 11_434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 };

export interface Candidate extends Pick<FoundServer, "kind" | "url"> {
  readonly apiKey?: string;
}

export interface CandidateOptions {
  readonly env: Environment;
  /** Default: those of Ollama, LM Studio, llama.cpp and vLLM. Kinds that are left out are skipped. */
  readonly ports?: UsualPorts;
}

export interface DiscoverOptions extends CandidateOptions {
  /** How long each may take to list its models. Default: 600. */
  readonly timeoutMs?: number;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * The model servers that answer: that of `RONDO_MODEL_URL` first, then those at the usual ports of this machine
 * (Ollama's: or `OLLAMA_HOST`). All are asked at once; those that do not answer in time are left out.
 */
export async function discoverModelServers(options: DiscoverOptions): Promise<FoundServer[]> {
  const { timeoutMs = 600, signal } = options;
  const asked = candidates(options).map(async ({ kind, url, apiKey }): Promise<FoundServer[]> => {
    const limit = AbortSignal.timeout(timeoutMs);
    const either = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      const [models, told] = await Promise.all([
        listModels({ baseURL: url, apiKey, signal: either }),
        learnEndpoint({ baseURL: url, apiKey, signal: either }).catch(() => undefined),
      ]);
      return [{ kind: told?.server ? toKind(told.server) : kind, url, models }];
    } catch {
      signal?.throwIfAborted();
      return [];
    }
  });
  return (await Promise.all(asked)).flat();
}

/** What a server says it is. Its port is only a hint, for servers that do not tell. */
function toKind(server: string): FoundServer["kind"] {
  return isKind(server) ? server : "other";
}

function isKind(name: string): name is FoundServer["kind"] {
  return Object.hasOwn(serverNames, name);
}

/** Where a model server may be. Each address once; nothing is asked. */
export function candidates({ env, ports = usualPorts }: CandidateOptions): Candidate[] {
  const all: Candidate[] = [];
  const url = env[modelUrl.env]?.trim();
  const apiKey = env[modelApiKey.env]?.trim();
  if (url) {
    const port = URL.parse(url)?.port;
    const kind = kinds.find((it) => String(ports[it]) === port) ?? "other";
    all.push({ kind, url, ...(apiKey ? { apiKey } : {}) });
  }
  const host = env["OLLAMA_HOST"]?.trim();
  for (const kind of kinds.filter((it) => ports[it] !== undefined)) {
    const isMoved = kind === "ollama" && host;
    all.push({ kind, url: isMoved ? ollamaBaseUrl(host) : `http://localhost:${ports[kind]}/v1` });
  }
  const seen = new Set<string>();
  return all.filter(({ url }) => {
    const place = placeOf(url);
    return !seen.has(place) && seen.add(place);
  });
}

/** The same text for all ways to write the address of one server. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const host = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(parsed.hostname) ? "localhost" : parsed.hostname;
  return `${parsed.protocol}//${host}:${parsed.port}${parsed.pathname.replace(/\/+$/, "")}`;
}
