// Opens a conversation: with the model of the flags, of the environment, of this machine, or the demo model.

import type { AnyTool } from "rondo";
import { discoverModelServers, type FoundServer } from "../../config/discover.ts";
import type { Environment } from "../../config/overrides.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";
import { ChatConversation } from "./conversation.ts";
import { type ModelSource, modelSource } from "./model-source.ts";
import { serverSource } from "./server-source.ts";

export interface ModelFlags {
  readonly model?: string | undefined;
  readonly modelUrl?: string | undefined;
  readonly server?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly system?: string | undefined;
}

export interface OpenOptions {
  readonly flags: ModelFlags;
  readonly tools: readonly AnyTool[];
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Decides about calls that a Rondo server wants approved. Default: nobody does. */
  readonly approve?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Finds model servers on this machine. Default: probes the usual ports. */
  readonly discover?:
    | ((options: { env: Environment; signal: AbortSignal }) => Promise<FoundServer[]>)
    | undefined;
}

export interface Opened {
  readonly conversation: ChatConversation;
  /** A message for the user. Default: none. */
  readonly notice?: string;
}

/** Throws an error for the user if what the flags name does not exist. */
export async function openConversation(options: OpenOptions): Promise<Opened> {
  const { flags, tools, env, signal, approve, discover = discoverModelServers } = options;
  const { model, system: systemPrompt } = flags;
  const open = async (source: ModelSource) => {
    const opened = await source.open(model, signal);
    return new ChatConversation({ source, model: opened, tools, systemPrompt });
  };
  const place = placeOf(flags, env);
  if (place?.kind === "server") {
    const apiKey = flags.apiKey ?? env["RONDO_API_KEY"];
    return { conversation: await open(serverSource({ url: place.url, apiKey, approve })) };
  }
  const apiKey = flags.apiKey ?? env[modelApiKey.env];
  if (place) return { conversation: await open(modelSource([{ url: place.url, apiKey }])) };
  if (model === "demo") return { conversation: await open(modelSource([])) };

  const found = (await discover({ env, signal })).filter(({ models }) => models.length > 0);
  const conversation = await open(modelSource(found.map(({ url }) => ({ url }))));
  if (found.length > 0) return { conversation };
  return {
    conversation,
    notice:
      "No model server was found on this machine, so this is the demo model: no language model, but a stand-in that follows simple rules.",
  };
}

interface Place {
  readonly kind: "server" | "model";
  readonly url: string;
}

/** Flags override the environment, and a Rondo server a model server. */
function placeOf(flags: ModelFlags, env: Environment): Place | undefined {
  const named: [Place["kind"], string | undefined][] = [
    ["server", flags.server],
    ["model", flags.modelUrl],
    ["server", env["RONDO_SERVER"]],
    ["model", env[modelUrl.env]],
  ];
  for (const [kind, url] of named) if (url) return { kind, url };
  return undefined;
}
