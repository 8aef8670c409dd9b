// A model server of the config: its list of models, which is cached, and what is known about it.

import { openaiCompatible } from "rondo";
import { learnEndpoint, listModels } from "rondo/models";
import { type EndpointConfig, providerOptions } from "./model-schema.ts";

export interface ModelsOptions {
  /** Receives warnings about endpoints that do not answer. Default: ignored. */
  onWarning?: (message: string) => void;
  /** How long an endpoint may take to list its models. Default: 5,000. */
  listTimeoutMs?: number;
  /** How long a list is cached; a failure for 5,000 at most. Default: 30,000. */
  maxAgeMs?: number;
  /** Default: `Date.now`. */
  now?: () => number;
}

/** How often an endpoint is asked for its list because of unknown names. */
const minRefreshMs = 1000;

/** An endpoint and its list of models, which is cached. */
export class ModelEndpoint {
  readonly config: EndpointConfig;
  /** Its last list, however old: a server that is down still has its models. */
  lastKnown: readonly string[] = [];
  /** Whether it answered when it was last asked; undefined before that. */
  isUp: boolean | undefined;
  /** Why it did not answer, with its address. */
  problem: string | undefined;
  /** Which program it is, by the config or as it told: `ollama`; undefined if that is not known. */
  kind: string | undefined;
  readonly #options: ModelsOptions;
  #list: Promise<string[] | undefined> | undefined;
  #refreshAtMs = 0;
  #askedAtMs = 0;
  #label: string | undefined;

  constructor(config: EndpointConfig, options: ModelsOptions) {
    this.config = config;
    this.#options = options;
    this.kind = config.server?.toLowerCase().replaceAll(/[^a-z]/g, "");
  }

  /** Its address as the library has it: without secrets, and the key of its slots. */
  get label(): string {
    this.#label ??= openaiCompatible(providerOptions(this.config, "any")).endpoint;
    return this.#label;
  }

  /** Asks it what it is, unless the config says so. The library keeps the answer for minutes. */
  async learnKind(): Promise<void> {
    const { url: baseURL, apiKey, headers, server } = this.config;
    if (server === undefined)
      this.kind = (await learnEndpoint({ baseURL, apiKey, headers })).server ?? this.kind;
  }

  /** The names of its models; undefined if it does not answer. */
  models(): Promise<string[] | undefined> {
    const { now = Date.now, maxAgeMs = 30_000 } = this.#options;
    if (this.#list === undefined || now() >= this.#refreshAtMs) {
      const startedAtMs = now();
      this.#askedAtMs = startedAtMs;
      this.#refreshAtMs = startedAtMs + maxAgeMs;
      this.#list = this.#fetchList(startedAtMs);
    }
    return this.#list;
  }

  /** The same, asked anew unless that was just done: clients choose the names that are not found. */
  newerModels(): Promise<string[] | undefined> {
    const { now = Date.now } = this.#options;
    if (now() >= this.#askedAtMs + minRefreshMs) this.#refreshAtMs = 0;
    return this.models();
  }

  async #fetchList(startedAtMs: number): Promise<string[] | undefined> {
    const { listTimeoutMs = 5000, onWarning } = this.#options;
    const { url: baseURL, apiKey, headers } = this.config;
    try {
      const signal = AbortSignal.timeout(listTimeoutMs);
      this.lastKnown = await listModels({ baseURL, apiKey, headers, signal });
      this.isUp = true;
      this.problem = undefined;
      return [...this.lastKnown];
    } catch (error) {
      this.isUp = false;
      // One that is down may be back soon.
      this.#refreshAtMs = Math.min(this.#refreshAtMs, startedAtMs + 5000);
      const reason = error instanceof Error ? error.message : String(error);
      this.problem = reason;
      onWarning?.(`The models of ${labelOf(baseURL)} are left out: ${reason}`);
      return undefined;
    }
  }
}

/** A URL without parts that may be secret; other text stays as it is. */
export function labelOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}` : url;
}
