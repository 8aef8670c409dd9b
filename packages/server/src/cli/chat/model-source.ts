// Where a chat gets its models: model servers, or the demo model.

import { type JsonObject, type Message, type ModelProvider, openaiCompatible } from "rondo";
import { demoModel } from "rondo/demo";
import { chatModels } from "../../config/chat-models.ts";
import { labelOf } from "../../config/endpoint.ts";
import { modelsAt } from "../../config/nearby-api.ts";
import { explainModelError, missingModel } from "./explain-error.ts";

export interface ModelPlace {
  readonly url: string;
  readonly apiKey?: string | undefined;
}

export interface ModelSource {
  /** The names of all models. Throws in words if no server answers. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** A model by its name; without one, the first that can chat. Throws an error for the user. */
  open(name: string | undefined, signal: AbortSignal): Promise<ModelProvider>;
  /** Rewords an error of one of its models for the command line. */
  explain(error: unknown): Promise<unknown>;
  /** Whether it stores the conversation, as responses. */
  readonly keepsResponses?: true;
  /** Goes on from a stored response, the last of these messages. */
  continueFrom?: (responseId: string, messages: readonly Message[]) => void;
  /** Called with each stored response. */
  onResponse?: (response: JsonObject) => void;
}

/** Delay between the demo model's pieces, so that streaming is visible. */
const demoDelayMs = 15;

/** Models of servers, in their order; without a server, the demo model. */
export function modelSource(places: readonly ModelPlace[]): ModelSource {
  const openAt = ({ url, apiKey }: ModelPlace, model: string) =>
    openaiCompatible({ baseURL: url, model, ...(apiKey !== undefined && { apiKey }) });

  /** The models of each server. One that fails counts as empty, unless it is the only one. */
  const listed = async (signal: AbortSignal) => {
    const all = await Promise.allSettled(places.map((place) => modelsAt(place, signal)));
    const [only, ...others] = all;
    if (only?.status === "rejected" && others.length === 0) throw await explainModelError(only.reason);
    return all.map((result) => (result.status === "fulfilled" ? result.value : []));
  };

  const source: ModelSource = {
    async list(signal) {
      return places.length === 0 ? ["demo"] : [...new Set((await listed(signal)).flat())];
    },

    async open(name, signal) {
      const [first, ...others] = places;
      if (!first) {
        if (name === undefined || name === "demo") return demoModel({ delayMs: demoDelayMs });
        throw missingModel(name, ["demo"]);
      }
      // A single server that cannot list its models is asked anyway: it knows best.
      if (name !== undefined && others.length === 0) {
        const known = await listed(signal).catch(() => undefined);
        if (known && !hasModel(known.flat(), name))
          throw missingModel(name, known.flat(), labelOf(first.url));
        return openAt(first, name);
      }
      const known = await listed(signal);
      const wanted = name ?? chatModels(known.flat())[0];
      const index = wanted === undefined ? -1 : known.findIndex((names) => hasModel(names, wanted));
      const place = places[index];
      if (wanted !== undefined && place) return openAt(place, wanted);
      if (name !== undefined) throw missingModel(name, known.flat());
      throw new Error(
        `There is no model ${known.flat().length === 0 ? "" : `that can chat (only ${known.flat().join(", ")}) `}at ${places.map(({ url }) => labelOf(url)).join(" and ")} yet. Get one (Ollama: \`ollama pull qwen3:8b\`), or name one with --model.`,
      );
    },

    explain: (error) => explainModelError(error, () => source.list(AbortSignal.timeout(2000))),
  };
  return source;
}

/** Ollama lists `qwen3` as `qwen3:latest`. */
export function hasModel(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.includes(`${name}:latest`);
}
