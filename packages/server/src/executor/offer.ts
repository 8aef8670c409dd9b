// The tools of one run, from all executors, under the names that the model has for them.

import type { AnyTool, JsonValue } from "rondo";
import { invalidRequest } from "../protocol/api-error.ts";
import type { Annotation } from "../protocol/items.ts";
import type { Announcement, OfferedTool, ToolOffer } from "./executor.ts";
import { withSubtools } from "./local/local-executor.ts";
import { identityKey, type ToolIdentity } from "./tool-identity.ts";

export interface Offer {
  /** What the model is offered. */
  readonly tools: readonly AnyTool[];
  /** Whether anything can run here at all; else the client decides when to ask again. */
  readonly isAgentic: boolean;
  /** A tool by its name, its own or the one that models see. */
  find(name: string): OfferedTool | undefined;
  /** A tool of a server, by its name there. */
  findOn(label: string, name: string): OfferedTool | undefined;
  /** The very tool that a call belongs to. */
  findSame(identity: ToolIdentity): OfferedTool | undefined;
  readonly announcements: readonly Announcement[];
  /** What of the request is ignored, for the log. */
  readonly ignored: readonly string[];
  /** Takes what a run needs, and gives the function that releases it. Undefined if it needs nothing. */
  readonly hold?: (() => () => void) | undefined;
  /** Annotations for a text of the model. Undefined if there are none. */
  readonly annotate?: ((text: string) => readonly Annotation[]) | undefined;
}

export const emptyOffer: Offer = {
  tools: [],
  isAgentic: false,
  find: () => undefined,
  findOn: () => undefined,
  findSame: () => undefined,
  announcements: [],
  ignored: [],
};

/**
 * Merges offers, the more important first. Of two tools with one name the first is offered, and the other under a
 * longer name or not at all. `names`: those that the model has for tools already, none of which comes to mean another.
 */
export function mergeOffers(
  offers: readonly ToolOffer[],
  names: ReadonlyMap<string, ToolIdentity> = new Map(),
): Offer {
  const byName = new Map<string, OfferedTool>();
  const ignored = offers.flatMap((offer) => offer.ignored ?? []);
  const nameOf = new Map(Array.from(names, ([name, identity]) => [identityKey(identity), name]));
  for (const offered of inOrder(offers)) {
    const { tool, identity, prefixed, index } = offered;
    const isTaken = (name: string) => {
      const owner = names.get(name);
      const isOther = () => owner && identityKey(owner) !== identityKey(identity);
      return byName.has(name) || (owner !== undefined && prefixed !== undefined && isOther());
    };
    const earlier = prefixed && (nameOf.get(identityKey(identity)) ?? tool.wireName);
    const isRenamed = prefixed !== undefined && (isTaken(tool.wireName) || earlier !== tool.wireName);
    const named = isRenamed ? { ...offered, tool: prefixed() } : offered;
    if (!isTaken(named.tool.wireName)) byName.set(named.tool.wireName, named);
    else if (prefixed) ignored.push(`the tool '${identity.label}: ${identity.name}'`);
    else if (index !== undefined) ignored.push(`a second tool '${tool.wireName}'`);
  }

  const all = [...byName.values()];
  for (const { tool } of all) checkSubtools(tool, byName);
  // Made when somebody looks: most answers have no calls.
  const byFullName = lazyMap(all, ({ tool }) => tool.name);
  const byIdentity = lazyMap(all, ({ identity }) => identityKey(identity));
  const onServer = lazyMap(all.toReversed(), ({ identity }) => serverKey(identity.label, identity.name));
  return {
    tools: all.map(({ tool }) => tool),
    isAgentic: all.some(({ runsHere }) => runsHere),
    find: (name) => byFullName().get(name) ?? byName.get(name),
    findOn: (label, name) => onServer().get(serverKey(label, name)),
    findSame: (identity) => byIdentity().get(identityKey(identity)),
    announcements: offers.flatMap((offer) => offer.announcements ?? []),
    ignored,
    hold: holdAll(offers),
    annotate: annotateAll(offers),
  };
}

function lazyMap(
  all: readonly OfferedTool[],
  keyOf: (offered: OfferedTool) => string,
): () => ReadonlyMap<string, OfferedTool> {
  let map: ReadonlyMap<string, OfferedTool> | undefined;
  return () => {
    map ??= new Map(all.map((offered) => [keyOf(offered), offered]));
    return map;
  };
}

/** Two tools may share a container: each file is cited once. An offer that fails annotates nothing. */
function annotateAll(offers: readonly ToolOffer[]): Offer["annotate"] {
  const all = offers.flatMap(({ annotate }) => (annotate ? [annotate] : []));
  if (all.length === 0) return undefined;
  return (text) => {
    const found = new Map<string, Annotation>();
    for (const annotate of all)
      try {
        for (const annotation of annotate(text)) found.set(JSON.stringify(annotation), annotation);
      } catch {
        // The answer is worth more than its annotations.
      }
    return [...found.values()];
  };
}

/** Tools of the request in its order, then the others. */
function inOrder(offers: readonly ToolOffer[]): OfferedTool[] {
  const all = offers.flatMap(({ tools }) => tools);
  const place = ({ index = Number.MAX_SAFE_INTEGER }: OfferedTool) => index;
  return all.some(({ index }) => index !== undefined) ? all.toSorted((a, b) => place(a) - place(b)) : all;
}

function holdAll(offers: readonly ToolOffer[]): Offer["hold"] {
  const holds = offers.flatMap(({ hold }) => (hold ? [hold] : []));
  if (holds.length === 0) return undefined;
  return () => {
    const releases: (() => void)[] = [];
    const releaseAll = () => {
      for (const release of releases) release();
    };
    try {
      for (const hold of holds) releases.push(hold());
    } catch (error) {
      releaseAll();
      throw error;
    }
    return releaseAll;
  };
}

function serverKey(label: string, name: JsonValue): string {
  return JSON.stringify([label, name]);
}

/** The loop offers a tool with its subtools, so that none of them can be replaced alone. */
function checkSubtools(parent: AnyTool, byName: ReadonlyMap<string, OfferedTool>): void {
  for (const { name, wireName } of parent.subtools.flatMap(withSubtools))
    if ((byName.get(wireName)?.tool.name ?? name) !== name)
      throw invalidRequest(
        "tools",
        `The name '${wireName}' belongs to a part of the server's tool '${parent.name}'. Give your function another name.`,
      );
}
