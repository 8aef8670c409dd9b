// Picks the profile for a model on a server: the common one, with what is known of the server and of the family.

import { type ModelFamily, modelFamilies } from "./model-families.ts";
import { type ModelServerKind, modelServers } from "./model-servers.ts";
import type { ModelProfile, ToolDialect } from "./profile.ts";

const allDialects: readonly ToolDialect[] = [
  "hermes",
  "qwen-coder",
  "glm",
  "mistral",
  "llama",
  "bare-json",
  "pythonic",
  "deepseek",
  "kimi",
  "harmony",
  "granite",
  "minimax",
];

/**
 * What holds where nothing else is known. All dialects are looked for: each is strict about what it takes for a
 * call, and a model of an unknown name may be the child of any family.
 */
export const commonProfile: ModelProfile = {
  name: "common",
  reasoningFields: ["reasoning_content", "reasoning", "reasoning_details"],
  sendReasoning: "none",
  thinkTags: [["<think>", "</think>"]],
  startsThinking: false,
  toolDialects: allDialects,
  honoursToolChoice: true,
  // Asking for JSON in words works everywhere; some servers answer 400 to a schema, or ignore it.
  outputMode: "prompt",
  text: "incremental",
};

export interface ProfileQuestion {
  /** Where the server is; its port tells what it probably is. */
  readonly baseURL: string;
  /** The model's name, as its server knows it. */
  readonly model: string;
  /** What the server is, if that is known: `ollama`, `lmstudio`, `llamacpp`, `vllm`. */
  readonly server?: string;
  /** What the user knows better. Default: nothing. */
  readonly override?: Partial<ModelProfile>;
}

export interface PickedProfile {
  readonly profile: ModelProfile;
  /** How it came about, for `doctor` and messages. */
  readonly reason: string;
}

/**
 * The profile for a model on a server, as `openaiCompatible()` and the presets pick it, with the reason in words.
 * The same question always has the same answer, and nobody is asked for it.
 */
export function pickProfile({ baseURL, model, server, override = {} }: ProfileQuestion): PickedProfile {
  const [serverKind, serverReason] = findServer(baseURL, server);
  const family = modelFamilies.find(({ pattern }) => pattern.test(model.toLowerCase()));
  const given = Object.entries(override).filter(([, value]) => value !== undefined);
  const profile: ModelProfile = {
    ...combine(serverKind, family),
    ...(Object.fromEntries(given) as Partial<ModelProfile>),
  };
  const reasons = [
    serverReason,
    family
      ? `model family '${family.name}' by the name '${model}' (${family.why})`
      : `no known model family in the name '${model}': all tool dialects are looked for`,
  ];
  if (given.length > 0) reasons.push(`set by the user: ${given.map(([key]) => key).join(", ")}`);
  return { profile, reason: `${reasons.join("; ")}.` };
}

function combine(server: ModelServerKind | undefined, family: ModelFamily | undefined): ModelProfile {
  const { sendsBack = false, opensThinking = false } = family ?? {};
  const names = [server?.name, family?.name].filter((name) => name !== undefined);
  return {
    ...commonProfile,
    ...server?.profile,
    ...family?.profile,
    name: names.length > 0 ? names.join("/") : commonProfile.name,
    sendReasoning: sendsBack === true ? (server?.reasoningField ?? "reasoning_content") : sendsBack || "none",
    // Servers that take thinking out of the text leave nothing of it there, opened or not.
    startsThinking: opensThinking && server?.separatesThinking !== true,
  };
}

function findServer(baseURL: string, server: string | undefined): [ModelServerKind | undefined, string] {
  if (server !== undefined) {
    const wanted = server.toLowerCase().replaceAll(/[^a-z]/g, "");
    const found = modelServers.find(({ name }) => name === wanted);
    return [found, found ? `server '${found.name}' as given` : `no known server '${server}'`];
  }
  const port = URL.canParse(baseURL) ? new URL(baseURL).port : "";
  const found = modelServers.find((kind) => kind.port === port);
  return [found, found ? `server '${found.name}' by its port ${port}` : `no known server at ${baseURL}`];
}
