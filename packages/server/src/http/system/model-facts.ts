// The models with their profiles, and where each fact of a profile comes from.

import {
  commonProfile,
  type EndpointFacts,
  learnEndpoint,
  type ModelProfile,
  type ProfileFact,
  profileFacts,
} from "rondo/models";
import type { ModelServerView, ServedModel } from "../../config/models.ts";
import type { SystemModelListReply } from "../../protocol/system.ts";
import { endpointNames, slotsOf } from "./endpoints.ts";
import { shortly } from "./shortly.ts";

type ModelReply = SystemModelListReply["data"][number];

/** A page asks every few seconds, and a server may have hundreds of models: this many are asked about each time. */
const maxAskedAtOnce = 4;
/** How long what a server told about a model counts, be it nothing. */
const maxAgeMs = 300_000;
const maxKept = 1000;

interface Learned {
  readonly askedAtMs: number;
  contextWindow: number | undefined;
}

export class ModelFacts {
  readonly #models: { servers(): Promise<ModelServerView[]> };
  readonly #learned = new Map<string, Learned>();
  /** By what it was made from: a list of hundreds is not made anew each time. */
  readonly #profiles = new Map<string, ModelReply["profile"]>();

  constructor(models: { servers(): Promise<ModelServerView[]> }) {
    this.#models = models;
  }

  async list(): Promise<SystemModelListReply> {
    const servers = await this.#models.servers();
    const names = endpointNames(servers);
    await this.#learnSome(servers);
    const data = servers.flatMap((server, index) =>
      server.models.map((model): ModelReply => {
        const profile = this.#profileOf(model, server);
        const window = profile.find(({ name }) => name === "contextWindow")?.value;
        return {
          id: model.id,
          endpoint: names[index] ?? "",
          kind: server.kind,
          profile,
          context_window: typeof window === "number" ? window : null,
          slots: slotsOf(server),
        };
      }),
    );
    return { object: "list", data };
  }

  /** Asks servers for the context windows of a few models that were not asked about lately. */
  async #learnSome(servers: readonly ModelServerView[]): Promise<void> {
    const nowMs = performance.now();
    const due = servers
      .filter(({ state }) => state === "up")
      .flatMap(({ models }) => models)
      .filter(({ id, access }) => {
        if (!access || access.profile?.contextWindow !== undefined) return false;
        return nowMs - (this.#learned.get(id)?.askedAtMs ?? -Infinity) > maxAgeMs;
      });
    const asked = due.slice(0, maxAskedAtOnce).map((model) => this.#learn(model, nowMs));
    await shortly(Promise.all(asked));
  }

  async #learn({ id, name, access }: ServedModel, askedAtMs: number): Promise<void> {
    if (!access) return;
    if (this.#learned.size >= maxKept) this.#learned.clear();
    const learned: Learned = { askedAtMs, contextWindow: this.#learned.get(id)?.contextWindow };
    this.#learned.set(id, learned);
    const { url: baseURL, apiKey, headers } = access;
    learned.contextWindow = (await learnEndpoint({ baseURL, apiKey, headers, model: name })).contextWindow;
  }

  #profileOf(model: ServedModel, { kind, label }: ModelServerView): ModelReply["profile"] {
    if (model.provider) return madeFacts(model.provider.profile);
    const contextWindow = this.#learned.get(model.id)?.contextWindow;
    const key = JSON.stringify([model.id, model.name, kind, contextWindow]);
    const known = this.#profiles.get(key);
    if (known) return known;
    const { access } = model;
    const facts = profileFacts({
      baseURL: label,
      model: model.name,
      ...(access?.server !== undefined && { server: access.server }),
      learned: { server: kind as EndpointFacts["server"], evidence: undefined, contextWindow },
      ...(access?.profile && { override: access.profile }),
    });
    const profile = facts.map(
      ({ from, ...fact }) => ({ ...fact, from: from === "user" ? "config" : from }) as const,
    );
    if (this.#profiles.size >= maxKept) this.#profiles.clear();
    this.#profiles.set(key, profile);
    return profile;
  }
}

/** A model that code made brings its profile: what is not usual is the config's. */
function madeFacts(whole: ModelProfile): ModelReply["profile"] {
  const { name: _, ...profile } = whole;
  const isUsual = (name: ProfileFact["name"]) =>
    JSON.stringify(profile[name as keyof typeof profile]) === JSON.stringify(commonProfile[name]);
  return (Object.keys(profile) as (keyof typeof profile)[]).map((name) => {
    return { name, value: profile[name], from: isUsual(name) ? "default" : "config" };
  });
}
