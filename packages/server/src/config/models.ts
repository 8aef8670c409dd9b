// The models that the server offers: by name from the config, and all those of the endpoints.

import { type ChatForwarder, chatForwarder, type ModelProvider, openaiCompatible } from "rondo";
import { type ApiError, invalidRequest, notFound } from "../protocol/api-error.ts";
import { EndpointModels } from "./endpoint-models.ts";
import { type EndpointConfig, isProvider, type NamedModelConfig, providerOptions } from "./model-schema.ts";
import type { ServerConfig } from "./schema.ts";

export interface ModelEntry {
  readonly id: string;
  readonly ownedBy: string;
}

export interface ResolvedModel {
  /** The name that the client used, or the default model's. */
  readonly name: string;
  readonly provider: ModelProvider;
  /** Passes chat requests on to its server; undefined for a model that is code. */
  readonly forwarder?: ChatForwarder;
}

type Reached = Omit<ResolvedModel, "name">;

export interface Models {
  /** The model of a request; `undefined` is the default one. Throws an `ApiError`. */
  resolve(name: string | undefined): Promise<ResolvedModel>;
  /** All that can be asked now. An endpoint that does not answer is left out. */
  list(): Promise<ModelEntry[]>;
}

export interface ModelsOptions {
  /** Told of endpoints that do not answer. Default: nobody. */
  onWarning?: (message: string) => void;
  /** How long an endpoint may take to list its models. Default: 5,000. */
  listTimeoutMs?: number;
  /** How long a list counts; a failure to get one counts for 5,000 at most. Default: 30,000. */
  maxAgeMs?: number;
  /** Default: `Date.now`. */
  now?: () => number;
}

type ModelsConfig = Pick<ServerConfig, "endpoints" | "models" | "defaultModel">;

interface Place {
  readonly config: EndpointConfig;
  readonly models: EndpointModels;
}

// Clients choose the names that are passed through, so their number must have an end.
const maxProviders = 500;
const maxNamesInMessage = 20;

/** The models of a config. Providers are made once for each endpoint and model, and shared. */
export class ConfiguredModels implements Models {
  readonly #named: ReadonlyMap<string, ModelProvider | NamedModelConfig>;
  readonly #places: readonly Place[];
  readonly #default: string | undefined;
  readonly #reached = new Map<string, Reached>();

  constructor({ endpoints, models, defaultModel }: ModelsConfig, options: ModelsOptions = {}) {
    const { onWarning = () => {}, listTimeoutMs = 5000, maxAgeMs = 30_000, now = Date.now } = options;
    this.#named = new Map(Object.entries(models));
    this.#default = defaultModel;
    this.#places = endpoints.map((config) => ({
      config,
      models: new EndpointModels({ config, timeoutMs: listTimeoutMs, maxAgeMs, now, onWarning }),
    }));
  }

  async resolve(wanted: string | undefined): Promise<ResolvedModel> {
    const name = wanted ?? this.#default ?? (await this.#onlyModel());
    if (name.trim() === "") throw invalidRequest("model", "Expected the name of a model, got an empty text.");
    const named = this.#named.get(name);
    if (named !== undefined) return { name, ...this.#reachNamed(name, named) };
    const place = await this.#placeOf(name);
    if (place === undefined) throw await this.#unknown(name);
    return { name, ...this.#reachIn(place, name) };
  }

  async list(): Promise<ModelEntry[]> {
    const listed = await Promise.all(this.#places.map(async ({ models }) => (await models.names()) ?? []));
    const entries = new Map<string, ModelEntry>();
    for (const id of this.#named.keys()) entries.set(id, { id, ownedBy: "rondo" });
    for (const [index, { config }] of this.#places.entries())
      for (const id of listed[index] ?? [])
        if (!entries.has(id)) entries.set(id, { id, ownedBy: config.server ?? "rondo" });
    return [...entries.values()];
  }

  /** The endpoint that has the model: the first in the order of the config. */
  async #placeOf(name: string): Promise<Place | undefined> {
    const [first, second] = this.#places;
    // There is only one who can know, and it says so itself when it does not.
    if (second === undefined && this.#named.size === 0) return first;
    const asked = this.#places.map(({ models }) => models.names());
    const find = () => this.#places.find(({ models }) => has(models.lastKnown, name));
    // What is known already need not wait for lists that are asked for anew, nor for an endpoint that hangs.
    const known = find();
    if (known !== undefined) return known;
    const listed = await Promise.all(asked);
    // Some servers cannot list their models at all.
    return find() ?? (second === undefined && listed[0] === undefined ? first : undefined);
  }

  #reachNamed(name: string, model: ModelProvider | NamedModelConfig): Reached {
    if (isProvider(model)) return { provider: model };
    return this.#cached(`named ${name}`, () => reach(model, model.model ?? name));
  }

  #reachIn(place: Place, name: string): Reached {
    const key = `${this.#places.indexOf(place)} ${name}`;
    return this.#cached(key, () => reach(place.config, name));
  }

  #cached(key: string, make: () => Reached): Reached {
    const reached = this.#reached.get(key) ?? make();
    // Put at the end again, so that the first is the one that was not used for longest.
    this.#reached.delete(key);
    this.#reached.set(key, reached);
    const [oldest] = this.#reached.keys();
    if (this.#reached.size > maxProviders && oldest !== undefined) this.#reached.delete(oldest);
    return reached;
  }

  async #onlyModel(): Promise<string> {
    const [first, ...others] = await this.list();
    if (first !== undefined && others.length === 0) return first.id;
    throw invalidRequest(
      "model",
      `The request names no model, and there is no default. ${await this.#known()}`,
    );
  }

  async #unknown(name: string): Promise<ApiError> {
    const message = `The model ${JSON.stringify(name.slice(0, 100))} does not exist. ${await this.#known()}`;
    return notFound(message, "model_not_found", "model");
  }

  /** What there is, for a message. Addresses are none of the client's business. */
  async #known(): Promise<string> {
    const names = (await this.list()).map(({ id }) => id);
    const answers = await Promise.all(this.#places.map(({ models }) => models.names()));
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

function reach(access: EndpointConfig | NamedModelConfig, model: string): Reached {
  const options = providerOptions(access, model);
  return { provider: openaiCompatible(options), forwarder: chatForwarder(options) };
}

/** Ollama lists `qwen3:latest`, and people say `qwen3`. */
function has(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.includes(`${name}:latest`);
}
