// Finds out which program a model server is, by what it answers.

import { isPlainObject } from "../../error/check.ts";
import { type ServerProfile, serverProfiles } from "../known-profiles.ts";
import type { Probe } from "./probe.ts";

export type ServerName = ServerProfile["name"];

/** Which program answers, and what gave it away. */
export interface ServerIdentity {
  readonly server: ServerName;
  /** For `doctor` and messages: `its header 'Server: llama.cpp'`. */
  readonly evidence: string;
}

/** Entries of a list that are looked at. */
const maxEntries = 1000;

/** Which program a header `Server` names. */
export function serverInHeader(header: string | undefined): ServerIdentity | undefined {
  if (header === undefined) return undefined;
  const found = serverProfiles.find((known) => known.header === header.toLowerCase());
  return found && { server: found.name, evidence: `its header 'Server: ${found.header}'` };
}

/**
 * Asks a server what it is, with one request where its list of models tells, and three otherwise. `unknown` if it
 * answers and does not tell; undefined if it does not answer.
 */
export async function identifyServer(probe: Probe): Promise<ServerIdentity | "unknown" | undefined> {
  const list = await probe("/models");
  if (!list) return undefined;
  const found = serverInHeader(list.header) ?? serverInList(list.body);
  if (found) return found;
  const [version, models] = await Promise.all([
    probe("/api/version", { own: true }),
    probe("/api/v0/models", { own: true }),
  ]);
  if (modelEntries(models?.body).some((entry) => typeof entry["max_context_length"] === "number"))
    return { server: "lmstudio", evidence: "its list at /api/v0/models" };
  if (isPlainObject(version?.body) && typeof version.body["version"] === "string")
    return { server: "ollama", evidence: "its version at /api/version" };
  return "unknown";
}

/** The models in a list of any kind. */
export function modelEntries(body: unknown): readonly Readonly<Record<string, unknown>>[] {
  const list: unknown = isPlainObject(body) ? (body["data"] ?? body["models"]) : undefined;
  return Array.isArray(list) ? list.slice(0, maxEntries).filter(isPlainObject) : [];
}

function serverInList(body: unknown): ServerIdentity | undefined {
  for (const { owned_by: owner } of modelEntries(body)) {
    const found = serverProfiles.find((known) => known.ownedBy === owner);
    if (found) return { server: found.name, evidence: `the owner '${found.ownedBy}' of its models` };
  }
  return undefined;
}
