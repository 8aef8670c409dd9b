// Finds the API that people meant when the path of a URL is wrong: most forget `/v1`.

import { ModelNotFoundError, ModelRequestError, UnexpectedAnswerError } from "rondo/errors";
import { listModels } from "rondo/models";
import { placeOf } from "./discover.ts";
import { labelOf } from "./endpoint.ts";
import type { EndpointConfig } from "./model-schema.ts";

export type ModelAccess = Pick<EndpointConfig, "url"> & Partial<Pick<EndpointConfig, "apiKey" | "headers">>;

const nearbyMs = 1500;

/** Whether an error shows that something answers, but not a model API at this path. */
export function isWrongPath(error: unknown): boolean {
  return [ModelNotFoundError, ModelRequestError, UnexpectedAnswerError].some((type) => error instanceof type);
}

/** The URL of a model API at the same server, with another path. */
export async function findNearbyApi(access: ModelAccess, signal: AbortSignal): Promise<string | undefined> {
  const { pathname } = new URL(access.url);
  for (const path of new Set([`${pathname.replace(/\/+$/, "")}/v1`, "/v1", "/api/v1"])) {
    const { href: url } = Object.assign(new URL(access.url), { pathname: path });
    if (placeOf(url) === placeOf(access.url)) continue;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(nearbyMs)]);
    const models = await modelsAt({ ...access, url }, limit).catch(() => undefined);
    signal.throwIfAborted();
    if (models !== undefined) return url;
  }
  return undefined;
}

/** The names of the models at this URL. */
export function modelsAt(
  { url: baseURL, apiKey, headers }: ModelAccess,
  signal: AbortSignal,
): Promise<string[]> {
  return listModels({ baseURL, apiKey, headers, signal });
}

/** The URL as given, or the API nearby if its path is wrong. Other faults show when it is used. */
export async function correctPath(access: ModelAccess, signal: AbortSignal): Promise<string> {
  try {
    await modelsAt(access, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isWrongPath(error)) return (await findNearbyApi(access, signal)) ?? access.url;
  }
  return access.url;
}

/** For people: that another path is used. */
export function describeCorrection(given: string, used: string): string {
  return `There is no model API at ${labelOf(given)}, but there is one at ${labelOf(used)}, which is used.`;
}
