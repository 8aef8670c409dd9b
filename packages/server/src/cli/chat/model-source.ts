// The models that can be talked to: those of one or more model servers, of a Rondo server, and the demo model.

import { type JsonObject, listModels, type ModelProvider, openaiCompatible } from "rondo";
import { demoModel } from "rondo/demo";
import { explainModelError, missingModel } from "./explain-error.ts";

export interface ModelPlace {
  readonly url: string;
  readonly apiKey?: string | undefined;
}

export interface ModelSource {
  /** The names of all models. Throws in words if no server answers. */
  list(signal: AbortSignal): Promise<readonly string[]>;
  /** A model by its name; the first one that can chat if there is no name. Throws in words. */
  open(name: string | undefined, signal: AbortSignal): Promise<ModelProvider>;
  /** What an error of one of its models means for someone at the command line, who has flags and no options. */
  explain(error: unknown): Promise<unknown>;
  /** Whether it keeps the conversation itself, as responses. */
  readonly keepsResponses?: true;
  /** Called with each response that it keeps. */
  onResponse?: (response: JsonObject) => void;
}

/** Between the pieces of the demo model's answers, so that one sees them come. */
const demoDelayMs = 15;

/** Models of servers, in their order. Without any place there is only the demo model. */
export function modelSource(places: readonly ModelPlace[]): ModelSource {
  const namesAt = ({ url, apiKey }: ModelPlace, signal: AbortSignal) =>
    listModels({ baseURL: url, apiKey, signal });
  const openAt = ({ url, apiKey }: ModelPlace, model: string) =>
    openaiCompatible({ baseURL: url, model, ...(apiKey !== undefined && { apiKey }) });

  /** What each place has; a place that does not answer has nothing, unless it is the only one. */
  const listed = async (signal: AbortSignal) => {
    const all = await Promise.allSettled(places.map((place) => namesAt(place, signal)));
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
      // There is only one who can know, and it says so itself when it does not.
      if (name !== undefined && others.length === 0) {
        const known = await listed(signal).catch(() => undefined);
        if (known && !hasModel(known.flat(), name))
          throw missingModel(name, known.flat(), labelOf(first.url));
        return openAt(first, name);
      }
      const known = await listed(signal);
      const wanted = name ?? firstForChat(known.flat());
      const index = wanted === undefined ? -1 : known.findIndex((names) => hasModel(names, wanted));
      const place = places[index];
      if (wanted !== undefined && place) return openAt(place, wanted);
      if (name !== undefined) throw missingModel(name, known.flat());
      throw new Error(
        `There is no model at ${places.map(({ url }) => labelOf(url)).join(" and ")} yet. Get one (Ollama: \`ollama pull qwen3:8b\`), or name one with --model.`,
      );
    },

    explain: (error) => explainModelError(error, () => source.list(AbortSignal.timeout(2000))),
  };
  return source;
}

/** Ollama lists `qwen3:latest`, and people say `qwen3`. */
export function hasModel(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.includes(`${name}:latest`);
}

/** Servers list models that only make vectors or ratings of texts too. */
function firstForChat(names: readonly string[]): string | undefined {
  return names.find((name) => !/embed|rerank|\bbge\b|\be5\b|whisper/i.test(name)) ?? names[0];
}

/** An address without what may be secret in it. */
function labelOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}
