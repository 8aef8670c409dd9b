// Finds who there is to talk to: what the flags name, then the environment, then this machine, then the demo model.

import type { AnyTool } from "rondo";
import { discoverModelServers, type Found } from "../../config/discover.ts";
import type { Environment } from "../../config/overrides.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";
import { createApiClient } from "../api-client.ts";
import type { ChatPartner } from "./chat-partner.ts";
import { ModelPartner } from "./model-partner.ts";
import { modelSource } from "./model-source.ts";
import { ServerPartner } from "./server-partner.ts";

export interface PartnerWishes {
  readonly model?: string | undefined;
  readonly modelUrl?: string | undefined;
  readonly server?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly system?: string | undefined;
}

export interface FindPartnerOptions {
  readonly wishes: PartnerWishes;
  readonly tools: readonly AnyTool[];
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Looks for model servers on this machine. Default: asks the usual ports. */
  readonly discover?: (options: { env: Environment; signal: AbortSignal }) => Promise<Found[]>;
}

export interface FoundPartner {
  readonly partner: ChatPartner;
  /** What the person should know about it, if anything. */
  readonly notice?: string;
}

/** Throws in words when what was named is not there. */
export async function findPartner(options: FindPartnerOptions): Promise<FoundPartner> {
  const { wishes, tools, env, signal, discover = discoverModelServers } = options;
  const { model, system: systemPrompt } = wishes;
  const place = placeOf(wishes, env);
  if (place?.kind === "server") {
    const api = createApiClient({ baseUrl: place.url, apiKey: wishes.apiKey ?? env["RONDO_API_KEY"] });
    const partner = new ServerPartner({ api, model, tools, systemPrompt });
    // Said before the first prompt is written, not after it.
    if (model === undefined) await partner.models(signal);
    else await partner.use(model, signal);
    return { partner };
  }

  const direct = async (places: Parameters<typeof modelSource>[0]) => {
    const source = modelSource(places);
    const opened = await source.open(model, signal);
    return new ModelPartner({ source, model: opened, tools, systemPrompt });
  };
  const apiKey = wishes.apiKey ?? env[modelApiKey.env];
  if (place) return { partner: await direct([{ url: place.url, apiKey }]) };
  if (model === "demo") return { partner: await direct([]) };

  const found = (await discover({ env, signal })).filter(({ models }) => models.length > 0);
  const partner = await direct(found.map(({ url }) => ({ url })));
  if (found.length > 0) return { partner };
  return {
    partner,
    notice:
      "No model server was found on this machine, so this is the demo model: no language model, but a stand-in that follows simple rules.",
  };
}

interface Place {
  readonly kind: "server" | "model";
  readonly url: string;
}

/** A flag wins over the environment, and a server over a model server. */
function placeOf(wishes: PartnerWishes, env: Environment): Place | undefined {
  const named: [Place["kind"], string | undefined][] = [
    ["server", wishes.server],
    ["model", wishes.modelUrl],
    ["server", env["RONDO_SERVER"]],
    ["model", env[modelUrl.env]],
  ];
  for (const [kind, url] of named) if (url) return { kind, url };
  return undefined;
}
