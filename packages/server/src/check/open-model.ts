// Opens a model for its checks: without retries, so that faults show.

import { type ModelProvider, openaiCompatible } from "rondo";
import { commonProfile, learnEndpoint, pickProfile } from "rondo/models";
import { labelOf } from "../config/endpoint.ts";
import { type EndpointConfig, providerOptions } from "../config/model-schema.ts";
import type { ModelToCheck } from "./model-checks.ts";

/** How a model server is reached. */
export type Access = Pick<EndpointConfig, "url"> & Partial<EndpointConfig>;

/** A model behind a server. Asks the server what it is. */
export async function modelToCheck(
  access: Access,
  name: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ModelToCheck> {
  const settings = {
    ...providerOptions(access, name),
    // Faults must show, but a model that is loading is none.
    retry: { attempts: 1, loadingMs: timeoutMs },
  };
  const { url, apiKey, headers, server, profile: override } = access;
  const { profile, reason } = pickProfile({
    baseURL: url,
    model: name,
    ...(server && { server }),
    learned: await learnEndpoint({ baseURL: url, apiKey, headers, model: name, signal }),
    ...(override && { override }),
  });
  const { toolDialects } = commonProfile;
  const hasAll = toolDialects.every((dialect) => profile.toolDialects.includes(dialect));
  return {
    name,
    provider: openaiCompatible(settings),
    profile: {
      name: profile.name,
      reason: reason.replaceAll(url, labelOf(url)),
      toolDialects: profile.toolDialects,
    },
    withAllDialects: hasAll
      ? undefined
      : () => openaiCompatible({ ...settings, profile: { ...override, toolDialects } }),
  };
}

/** A model that code made. */
export function madeModel(provider: ModelProvider, name: string): ModelToCheck {
  const { name: profile, toolDialects } = provider.profile;
  return { name, provider, profile: { name: profile, reason: "The provider brings it.", toolDialects } };
}
