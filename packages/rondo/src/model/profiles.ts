// Picks the profile for a model on a server: the common one, with what is known about the server and the family.

import { type FamilyProfile, familyProfiles, type ServerProfile, serverProfiles } from "./known-profiles.ts";
import type { EndpointFacts } from "./learning/learn-endpoint.ts";
import type { ModelProfile, ToolDialect } from "./profile.ts";
import { toolDialects } from "./reading/dialects/dialects.ts";
import { knownThinkTags } from "./reading/think-tags.ts";

/**
 * The profile of an unknown model on an unknown server. It looks for all dialects: each is strict about what it takes
 * for a call, and a model of an unknown name may be fine-tuned from any family.
 */
export const commonProfile: ModelProfile = {
  name: "common",
  reasoningFields: ["reasoning_content", "reasoning", "reasoning_details"],
  sendReasoning: "none",
  thinkTags: knownThinkTags,
  startsThinking: false,
  toolDialects: Object.keys(toolDialects) as ToolDialect[],
  honoursToolChoice: true,
  // Asking for JSON in words works everywhere; some servers answer 400 to a schema, or ignore it.
  outputMode: "prompt",
  // The grammar of a shape forbids calls on every known server.
  shapeWithTools: "last",
  text: "incremental",
};

export interface ProfileQuestion {
  /** The server's URL; its port suggests which server it is, where nothing else tells. */
  readonly baseURL: string;
  /** The model's name, as its server knows it. */
  readonly model: string;
  /** The kind of server, if known: `ollama`, `lmstudio`, `llamacpp`, `vllm`, `sglang`. */
  readonly server?: string;
  /** What `learnEndpoint()` found out. Default: nothing. */
  readonly learned?: EndpointFacts;
  /** Fields set by the user. Default: none. */
  readonly override?: Partial<ModelProfile>;
}

export interface PickedProfile {
  readonly profile: ModelProfile;
  /** Why it was picked, for `doctor` and messages. */
  readonly reason: string;
}

/**
 * The profile for a model on a server, as `openaiCompatible()` and the presets pick it, with the reason in words.
 * Deterministic, and without any request.
 */
export function pickProfile(question: ProfileQuestion): PickedProfile {
  const { model, learned, override = {} } = question;
  const [known, serverReason] = findServer(question);
  const family = familyOf(model);
  const given = Object.entries(override).filter(([, value]) => value !== undefined);
  const profile: ModelProfile = {
    ...combineProfiles(known, family),
    ...(learned?.contextWindow !== undefined && { contextWindow: learned.contextWindow }),
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

/** Where a fact of a profile comes from. `server`: what the server is known for, or told itself. */
export type ProfileOrigin = "user" | "server" | "known model" | "default";

/** One field of a profile, and why it has its value. */
export interface ProfileFact {
  readonly name: keyof ModelProfile;
  readonly value: unknown;
  readonly from: ProfileOrigin;
}

/** The fields of `pickProfile()`, each with the last of the layers that changed it. Without the profile's name. */
export function profileFacts(question: ProfileQuestion): ProfileFact[] {
  const { override = {} } = question;
  const [server] = findServer(question);
  const ofServer = combineProfiles(server, undefined);
  const ofFamily = combineProfiles(server, familyOf(question.model));
  const isSame = (one: ModelProfile, other: ModelProfile, name: keyof ModelProfile) =>
    JSON.stringify(one[name]) === JSON.stringify(other[name]);
  const { name: _, ...profile } = pickProfile(question).profile;
  return (Object.keys(profile) as (keyof typeof profile)[]).map((name) => {
    const from = (): ProfileOrigin => {
      if (override[name] !== undefined) return "user";
      if (name === "contextWindow") return "server";
      if (!isSame(ofFamily, ofServer, name)) return "known model";
      return isSame(ofServer, commonProfile, name) ? "default" : "server";
    };
    return { name, value: profile[name], from: from() };
  });
}

/** A server by the name that a user gave it: `llama.cpp`, `LM Studio`. */
export function serverNamed(server: string): ServerProfile | undefined {
  const name = server.toLowerCase().replaceAll(/[^a-z]/g, "");
  return serverProfiles.find((known) => known.name === name);
}

/** The family of a model, by its name. */
export function familyOf(model: string): FamilyProfile | undefined {
  const name = model.toLowerCase();
  return familyProfiles.find(({ pattern }) => pattern.test(name));
}

/** The common profile with what is known about a server and a family; what the family says wins. */
function combineProfiles(server: ServerProfile | undefined, family: FamilyProfile | undefined): ModelProfile {
  const honoursToolChoice = server?.honoursToolChoice ?? true;
  const name = [server?.name, family?.name].filter((part) => part !== undefined).join("/") || "common";
  // Every known server can enforce a schema.
  const profile = {
    ...commonProfile,
    name,
    honoursToolChoice,
    ...(server?.namesToolChoice === false && { namesToolChoice: false }),
    ...(server?.constrainsCalls && { constrainsCalls: true }),
    outputMode: server ? "native" : "prompt",
  } as const;
  if (!family) return profile;
  const { dialects = [], sendsBack = "none", opensThinking = false } = family;
  return {
    ...profile,
    // Its own first. All others too: names mislead, and fine-tuned models write what their data has.
    toolDialects: [...new Set([...dialects, ...profile.toolDialects])],
    thinkTags: [...(family.thinkTags ?? []), ...profile.thinkTags],
    outputMode: family.outputMode ?? profile.outputMode,
    ...(family.callIds && { callIds: family.callIds }),
    sendReasoning: sendsBack === true ? (server?.reasoningField ?? "reasoning_content") : sendsBack,
    // A server that separates thinking leaves none of it in the text, opened or not.
    startsThinking: opensThinking && (!server || server.separatesThinking === false),
  };
}

function findServer({ baseURL, server, learned }: ProfileQuestion): [ServerProfile | undefined, string] {
  if (server !== undefined) {
    const found = serverNamed(server);
    return [found, found ? `server '${found.name}' as given` : `no known server '${server}'`];
  }
  const identified = serverProfiles.find((known) => known.name === learned?.server);
  if (identified)
    return [identified, `server '${identified.name}' by ${learned?.evidence ?? "what it tells"}`];
  const port = URL.parse(baseURL)?.port;
  const found = serverProfiles.find((known) => known.port === port);
  return [found, found ? `server '${found.name}' by its port ${port}` : `no known server at ${baseURL}`];
}
