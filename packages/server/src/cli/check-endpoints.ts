// Asks the model servers of a config at the start, so that a wrong URL or a dead server is reported then, and not with
// the first request. A server that is down may come up later, so nothing here prevents the start.

import { ModelAuthError } from "rondo/errors";
import { labelOf } from "../config/endpoint.ts";
import { isProvider } from "../config/model-schema.ts";
import {
  describeCorrection,
  findNearbyApi,
  isWrongPath,
  type ModelAccess,
  modelsAt,
} from "../config/nearby-api.ts";
import type { ServerConfig } from "../config/schema.ts";
import { modelApiKey } from "../config/settings.ts";

export interface CheckedEndpoints {
  /** With the paths that were meant. */
  readonly config: ServerConfig;
  /** What is wrong, and what to do, by the URL of the config. */
  readonly warnings: ReadonlyMap<string, string>;
}

/** Checks model servers. Tests have their own. */
export type CheckEndpoints = (config: ServerConfig) => Promise<CheckedEndpoints>;

/** A list is quick. A server that hangs delays the start by this much. */
const listMs = 1500;

export async function checkEndpoints(config: ServerConfig): Promise<CheckedEndpoints> {
  const named = Object.values(config.models).flatMap((model) => (isProvider(model) ? [] : model));
  const places = new Map<string, ModelAccess>();
  for (const access of [...config.endpoints, ...named])
    if (!places.has(access.url)) places.set(access.url, access);

  const corrected = new Map<string, string>();
  const warnings = new Map<string, string>();
  const check = async (access: ModelAccess) => {
    const { url } = access;
    try {
      await modelsAt(access, AbortSignal.timeout(listMs));
    } catch (error) {
      const nearby = isWrongPath(error)
        ? await findNearbyApi(access, new AbortController().signal)
        : undefined;
      if (nearby !== undefined) corrected.set(url, nearby);
      const warning = nearby === undefined ? describe(error, url) : describeCorrection(url, nearby);
      warnings.set(url, `${warning}${nearby === undefined ? "" : " Correct the URL."}`);
    }
  };
  await Promise.all([...places.values()].map(check));

  const move = <T extends { readonly url: string }>(access: T): T => {
    return { ...access, url: corrected.get(access.url) ?? access.url };
  };
  const models = Object.fromEntries(
    Object.entries(config.models).map(([name, model]) => [name, isProvider(model) ? model : move(model)]),
  );
  return { config: { ...config, endpoints: config.endpoints.map(move), models }, warnings };
}

function describe(error: unknown, url: string): string {
  const where = labelOf(url);
  if (error instanceof ModelAuthError)
    return `The model server at ${where} requires another key. Set apiKey beside its url in the config, or ${modelApiKey.env} for --model-url.`;
  if (isWrongPath(error))
    return `What answers at ${where} lists no models. If requests fail, check the URL: it usually ends in /v1.`;
  return `No model server answers at ${where}, so requests for its models will fail. Start it (Ollama: \`ollama serve\`), or correct the URL. \`rondo doctor --model-url ${where}\` tells more.`;
}
