// Finds out how many tokens a model can read and write where it runs, which is often less than it was trained for.

import { isPlainObject } from "../../error/check.ts";
import { modelEntries, type ServerName } from "./identify-server.ts";
import type { Probe } from "./probe.ts";

type Fields = Readonly<Record<string, unknown>>;
type WindowReader = (probe: Probe, model: string) => Promise<number | undefined>;

const readers: Readonly<Record<ServerName, WindowReader>> = {
  llamacpp: async (probe, model) => (await windowInList(probe, model)) ?? windowInProps(probe),
  vllm: windowInList,
  sglang: windowInList,
  ollama: windowOfOllama,
  lmstudio: windowOfLmStudio,
};

/** The window of a model on a server, if the server tells. */
export async function learnWindow(
  probe: Probe,
  server: ServerName | undefined,
  model: string,
): Promise<number | undefined> {
  return (server ? readers[server] : windowInList)(probe, model);
}

/** The field in the list of models: of llama.cpp, of vLLM and SGLang, and of hosted APIs. */
async function windowInList(probe: Probe, model: string): Promise<number | undefined> {
  const entry = entryOf((await probe("/models"))?.body, model);
  if (!entry) return undefined;
  const { meta, max_model_len, context_length, context_window } = entry;
  const inMeta = isPlainObject(meta) ? tokens(meta["n_ctx"]) : undefined;
  return inMeta ?? tokens(max_model_len) ?? tokens(context_length) ?? tokens(context_window);
}

/** The window of one slot. */
async function windowInProps(probe: Probe): Promise<number | undefined> {
  const body = (await probe("/props", { own: true }))?.body;
  const settings = isPlainObject(body) ? body["default_generation_settings"] : undefined;
  return isPlainObject(settings) ? tokens(settings["n_ctx"]) : undefined;
}

/**
 * The window of the loaded model, else `num_ctx` of its Modelfile. A model that is neither gets the default of its
 * server, which nothing tells; what it was trained for would be too much.
 */
async function windowOfOllama(probe: Probe, model: string): Promise<number | undefined> {
  const [loaded, shown] = await Promise.all([
    probe("/api/ps", { own: true }),
    probe("/api/show", { own: true, body: { model } }),
  ]);
  const running = modelEntries(loaded?.body).find(({ name }) => name === model || name === `${model}:latest`);
  const inUse = tokens(running?.["context_length"]);
  if (inUse !== undefined) return inUse;
  const parameters = isPlainObject(shown?.body) ? shown.body["parameters"] : undefined;
  if (typeof parameters !== "string") return undefined;
  return tokens(Number(/^\s*num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1]));
}

/** The window of a loaded model. One that is not loaded has only the largest that it could get. */
async function windowOfLmStudio(probe: Probe, model: string): Promise<number | undefined> {
  const entry = entryOf((await probe("/api/v0/models", { own: true }))?.body, model);
  return tokens(entry?.["loaded_context_length"]);
}

/** The entry of a model. A server with one model answers to every name. */
function entryOf(list: unknown, model: string): Fields | undefined {
  const entries = modelEntries(list);
  const named = entries.find(({ id }) => id === model || id === `${model}:latest`);
  return named ?? (entries.length === 1 ? entries[0] : undefined);
}

function tokens(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}
