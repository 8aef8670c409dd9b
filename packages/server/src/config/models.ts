// The models that the server offers: those that the config names, and all models of its endpoints.

import { setTimeout as sleep } from "node:timers/promises";
import { type ModelProvider, openaiCompatible } from "rondo";
import { type ChatForwarder, chatForwarder } from "rondo/models";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { chatModels } from "./chat-models.ts";
import { ModelEndpoint, type ModelsOptions } from "./endpoint.ts";
import { type EndpointConfig, isProvider, type NamedModelConfig, providerOptions } from "./model-schema.ts";
import type { ServerConfig } from "./schema.ts";

export interface ModelEntry {
  readonly id: string;
  readonly ownedBy: string;
  /** Set if its server does not answer now. */
  readonly isUnavailable?: true;
}

/** How many model servers answer, and how many do not. */
export interface ModelServerHealth {
  readonly up: number;
  readonly down: number;
}

export interface ResolvedModel {
  /** The name that the client used, or the default model's. */
  readonly name: string;
  readonly provider: ModelProvider;
  /** Forwards chat requests to its server; undefined for a model made by code. */
  readonly forwarder?: ChatForwarder;
}

/** A model as clients name it, and how it is reached. */
export interface ServedModel {
  readonly id: string;
  /** Its name at its server. */
  readonly name: string;
  /** One of both: its server, or the model itself if code made it. */
  readonly access?: EndpointConfig | NamedModelConfig;
  readonly provider?: ModelProvider;
}

/** A model server, or the models of one place that code made. */
export interface ModelServerView {
  /** Its address without secrets; also the key of its slots. */
  readonly label: string;
  /** `ollama`, `llamacpp`, …; `other` if it did not tell; `code` for models that code made. */
  readonly kind: string;
  readonly state: "up" | "down" | "unknown";
  /** Why it is down. With its address. */
  readonly problem: string | undefined;
  readonly maxConcurrency: number | undefined;
  readonly models: readonly ServedModel[];
}

type ModelAccess = Omit<ResolvedModel, "name">;

export interface Models {
  /** The model of a request; the default one for `undefined`. Throws an `ApiError`. */
  resolve(name: string | undefined): Promise<ResolvedModel>;
  /** All models, also those that an endpoint had before it stopped answering. */
  list(): Promise<ModelEntry[]>;
  /** Which model servers answer, as far as was seen in the last seconds. Default: nothing is known. */
  health?(): Promise<ModelServerHealth>;
}

type ModelsConfig = Pick<ServerConfig, "endpoints" | "models" | "defaultModel">;

// Clients choose the names that are passed through, so the cache must be limited.
const maxProviders = 500;
const maxNamesInMessage = 20;
/** How long the servers may take to show that they are up. */
const maxHealthMs = 300;

/** The models of a config. Each provider is made once per endpoint and model, and shared. */
export class ConfiguredModels implements Models {
  readonly #named: ReadonlyMap<string, ModelProvider | NamedModelConfig>;
  readonly #endpoints: readonly ModelEndpoint[];
  /** The servers of the named models; undefined for one made by code. */
  readonly #servers = new Map<string, ModelEndpoint>();
  readonly #default: string | undefined;
  readonly #providers = new Map<string, ModelAccess & { usedAt: number }>();
  #uses = 0;

  constructor({ endpoints, models, defaultModel }: ModelsConfig, options: ModelsOptions = {}) {
    this.#named = new Map(Object.entries(models));
    this.#default = defaultModel;
    this.#endpoints = endpoints.map((config) => new ModelEndpoint(config, options));
    const byAccess = new Map(this.#endpoints.map((endpoint) => [accessKey(endpoint.config), endpoint]));
    for (const [name, model] of this.#named) {
      if (isProvider(model)) continue;
      const key = accessKey(model);
      const server = byAccess.get(key) ?? new ModelEndpoint(model, options);
      byAccess.set(key, server);
      this.#servers.set(name, server);
    }
  }

  async resolve(requested: string | undefined): Promise<ResolvedModel> {
    const name = requested ?? this.#default ?? (await this.#onlyModel());
    if (name.trim() === "") throw invalidRequest("model", "Expected the name of a model, got an empty text.");
    const named = this.#named.get(name);
    if (named !== undefined && isProvider(named)) return { name, provider: named };
    if (named !== undefined) return withName(name, this.#open(`named ${name}`, named, named.model ?? name));
    const endpoint = this.#onlyEndpoint ?? (await this.#endpointOf(name));
    if (endpoint === undefined) throw await this.#unknown(name);
    return withName(name, this.#open(`${this.#endpoints.indexOf(endpoint)} ${name}`, endpoint.config, name));
  }

  async list(): Promise<ModelEntry[]> {
    const all = this.#all;
    const lists = new Map(
      await Promise.all(all.map(async (server) => [server, await server.models()] as const)),
    );
    const entries = new Map<string, ModelEntry>();
    const add = (id: string, ownedBy: string, server: ModelEndpoint | undefined) => {
      const isDown = server !== undefined && lists.get(server) === undefined;
      if (!entries.has(id)) entries.set(id, { id, ownedBy, ...(isDown && { isUnavailable: true }) });
    };
    for (const id of this.#named.keys()) add(id, "rondo", this.#servers.get(id));
    for (const endpoint of this.#endpoints)
      for (const id of lists.get(endpoint) ?? endpoint.lastKnown)
        add(id, endpoint.config.server ?? "rondo", endpoint);
    return [...entries.values()];
  }

  async health(): Promise<ModelServerHealth> {
    const all = this.#all;
    await shortly(Promise.all(all.map((server) => server.models())));
    const up = all.filter(({ isUp }) => isUp).length;
    return { up, down: all.length - up };
  }

  /** The model servers with their models, in the order of the config. Each is asked, for a short time. */
  async servers(): Promise<ModelServerView[]> {
    const all = this.#all;
    await shortly(Promise.all(all.flatMap((server) => [server.models(), server.learnKind()])));
    const ids = new Set(this.#named.keys());
    const named = Array.from(
      this.#named,
      ([id, model]): ServedModel & { server: ModelEndpoint | undefined } =>
        isProvider(model)
          ? { id, name: model.name, provider: model, server: undefined }
          : { id, name: model.model ?? id, access: model, server: this.#servers.get(id) },
    );
    const views = all.map((server): ModelServerView => {
      const { config, label, kind = "other", isUp, problem } = server;
      const listed = this.#endpoints.includes(server) ? server.lastKnown.filter((id) => !ids.has(id)) : [];
      for (const id of listed) ids.add(id);
      return {
        label,
        kind,
        state: isUp === undefined ? "unknown" : isUp ? "up" : "down",
        problem: isUp === false ? problem : undefined,
        maxConcurrency: config.maxConcurrency,
        models: [
          ...named.filter((model) => model.server === server),
          ...listed.map((id) => ({ id, name: id, access: config })),
        ],
      };
    });
    const byCode = Map.groupBy(
      named.filter(({ provider }) => provider),
      ({ provider }) => provider?.endpoint ?? "",
    );
    const made = Array.from(byCode, ([label, models]): ModelServerView => {
      const state = label.startsWith("demo:") ? "up" : "unknown";
      return { label, kind: "code", state, problem: undefined, maxConcurrency: undefined, models };
    });
    return [...views, ...made];
  }

  get #all(): ModelEndpoint[] {
    return [...new Set([...this.#endpoints, ...this.#servers.values()])];
  }

  /** The only candidate: it reports an unknown model itself. */
  get #onlyEndpoint(): ModelEndpoint | undefined {
    return this.#endpoints.length === 1 && this.#named.size === 0 ? this.#endpoints[0] : undefined;
  }

  /** The first endpoint that has the model, in the order of the config. */
  async #endpointOf(name: string): Promise<ModelEndpoint | undefined> {
    const [first, second] = this.#endpoints;
    const lists = this.#endpoints.map((endpoint) => endpoint.models());
    const find = () => this.#endpoints.find(({ lastKnown }) => has(lastKnown, name));
    // A known model need not wait for lists that are being refreshed, nor for an endpoint that hangs.
    const known = find();
    if (known !== undefined) return known;
    await Promise.all(lists);
    // A model that was just added is not in the lists yet.
    const [firstList] = find() ? [] : await Promise.all(this.#endpoints.map((it) => it.newerModels()));
    // Some servers cannot list their models at all.
    return find() ?? (second === undefined && firstList === undefined ? first : undefined);
  }

  #open(key: string, access: EndpointConfig | NamedModelConfig, model: string): ModelAccess {
    let opened = this.#providers.get(key);
    if (opened === undefined) {
      const options = providerOptions(access, model);
      opened = { provider: openaiCompatible(options), forwarder: chatForwarder(options), usedAt: 0 };
      if (this.#providers.size >= maxProviders) this.#dropLeastRecent();
      this.#providers.set(key, opened);
    }
    opened.usedAt = this.#uses += 1;
    return opened;
  }

  #dropLeastRecent(): void {
    const entries = [...this.#providers];
    const [oldest] = entries.reduce((least, entry) => (entry[1].usedAt < least[1].usedAt ? entry : least));
    this.#providers.delete(oldest);
  }

  async #onlyModel(): Promise<string> {
    const names = (await this.list()).map(({ id }) => id);
    const [only, ...others] = names.length === 1 ? names : chatModels(names);
    if (only !== undefined && others.length === 0) return only;
    throw invalidRequest(
      "model",
      `The request names no model, and there is no default. ${await this.#known()}`,
    );
  }

  async #unknown(name: string): Promise<ApiError> {
    const message = `The model ${JSON.stringify(name.slice(0, 100))} does not exist. ${await this.#known()}`;
    const answers = await Promise.all(this.#endpoints.map((endpoint) => endpoint.models()));
    return new ApiError(message, {
      status: 404,
      code: "model_not_found",
      param: "model",
      // It may be a model of a server that does not answer.
      ...(answers.includes(undefined) && { retryAfterMs: 5000 }),
    });
  }

  /** The known models, for a message. Without addresses: clients must not see them. */
  async #known(): Promise<string> {
    const names = (await this.list()).map(({ id }) => id);
    const answers = await Promise.all(this.#endpoints.map((endpoint) => endpoint.models()));
    const more = names.length > maxNamesInMessage ? ", …" : "";
    const known =
      names.length === 0
        ? "No models are known."
        : `Known are: ${names.slice(0, maxNamesInMessage).join(", ")}${more}.`;
    return answers.includes(undefined)
      ? `${known} A model server did not answer, so its models may be missing here.`
      : known;
  }
}

function withName(name: string, { provider, forwarder }: ModelAccess): ResolvedModel {
  return { name, provider, ...(forwarder && { forwarder }) };
}

/** Waits, but not long: a server that hangs must not make a question about all of them hang. */
async function shortly(work: Promise<unknown>): Promise<void> {
  const waited = new AbortController();
  await Promise.race([work, sleep(maxHealthMs, undefined, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
}

/** The same for accesses that reach the same models. */
function accessKey({ url, apiKey, headers }: EndpointConfig): string {
  return JSON.stringify([url.replace(/\/+$/, ""), apiKey, headers]);
}

/** Whether a list has the model. Ollama lists `qwen3:latest`, and people say `qwen3`. */
function has(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.includes(`${name}:latest`);
}
