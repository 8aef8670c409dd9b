// Opens a conversation with the model that the flags name, then the environment, then this machine, then the demo model.

import type { AnyTool } from "rondo";
import { discoverModelServers, type Found } from "../../config/discover.ts";
import type { Environment } from "../../config/overrides.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";
import { Conversation } from "./conversation.ts";
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
  /** Looks for model servers on this machine. Default: asks the usual ports. */
  readonly discover?: ((options: { env: Environment; signal: AbortSignal }) => Promise<Found[]>) | undefined;
}

export interface Opened {
  readonly conversation: Conversation;
  /** What the person should know about it, if anything. */
  readonly notice?: string;
}

/** Throws in words when what was named is not there. */
export async function openConversation(options: OpenOptions): Promise<Opened> {
  const { flags, tools, env, signal, approve, discover = discoverModelServers } = options;
  const { model, system: systemPrompt } = flags;
  const open = async (source: ModelSource) => {
    const opened = await source.open(model, signal);
    return new Conversation({ source, model: opened, tools, systemPrompt });
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

/** A flag wins over the environment, and a server over a model server. */
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
