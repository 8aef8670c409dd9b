// Opens a conversation: with the model of the flags, of the environment, of this machine, or the demo model.

import type { AnyTool } from "rondo";
import { chatModels } from "../../config/chat-models.ts";
import { candidates, discoverModelServers, type FoundServer, serverNames } from "../../config/discover.ts";
import { labelOf } from "../../config/endpoint.ts";
import { correctPath, describeCorrection } from "../../config/nearby-api.ts";
import type { Environment } from "../../config/overrides.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";
import { ChatConversation, type ChatConversationOptions } from "./conversation.ts";
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
  /** Where the conversation is stored as it grows. Default: nowhere. */
  readonly saved?: ChatConversationOptions["saved"];
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
  const { flags, tools, saved, env, signal, approve, discover = discoverModelServers } = options;
  const { model, system: systemPrompt } = flags;
  const open = async (source: ModelSource) => {
    const opened = await source.open(model, signal);
    return new ChatConversation({ source, model: opened, tools, systemPrompt, saved });
  };
  const place = placeOf(flags, env);
  if (place?.kind === "server") {
    const apiKey = flags.apiKey ?? env["RONDO_API_KEY"];
    return { conversation: await open(serverSource({ url: place.url, apiKey, approve })) };
  }
  const apiKey = flags.apiKey ?? env[modelApiKey.env];
  if (place) {
    const url = await correctPath({ url: place.url, ...(apiKey && { apiKey }) }, signal);
    const conversation = await open(modelSource([{ url, apiKey }]));
    return { conversation, ...(url !== place.url && { notice: describeCorrection(place.url, url) }) };
  }
  if (model === "demo") return { conversation: await open(modelSource([])) };

  const servers = await discover({ env, signal });
  const canAnswer = ({ models }: FoundServer) =>
    model === undefined ? chatModels(models).length > 0 : models.length > 0;
  const found = servers.filter(canAnswer);
  if (found.length > 0) return { conversation: await open(modelSource(found.map(({ url }) => ({ url })))) };
  const nowhere = describeSearch(servers, env);
  if (model !== undefined)
    throw new Error(
      `There is no model '${model}': ${nowhere} Start a model server that has it, or pass --model-url URL of one. \`--model demo\` is the demo model.`,
    );
  return {
    conversation: await open(modelSource([])),
    notice: `This is the demo model, a stand-in without a language model that follows simple rules: ${nowhere} --model-url URL names another place.`,
  };
}

/** Where models were looked for, and why there is none. */
function describeSearch(servers: readonly FoundServer[], env: Environment): string {
  const useless = servers.map(({ kind, url }) => `${serverNames[kind]} at ${labelOf(url)}`);
  if (useless.length > 0) return `${useless.join(" and ")} answers, but has no model that can chat.`;
  const places = candidates({ env }).map(({ kind, url }) => `${labelOf(url)} (${serverNames[kind]})`);
  return `no model server was found. Looked at ${places.join(", ")}.`;
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
