// What comes before a request: the responses that it follows. Each response of a chain needs what the one before it
// needed and a little more, so the newest pasts are kept: none of a thousand links has to be looked at again.

import type { JsonObject, Message } from "rondo";
import type { ChainLink } from "../store/store.ts";
import { type Entry, toMessages } from "./conversation.ts";
import { withoutCutAnswers } from "./cut-answers.ts";

export interface Past {
  readonly entries: readonly Entry[];
  /** Those of the entries. */
  readonly items: readonly JsonObject[];
  /** The messages of plain talk: whatever follows does not change them. Undefined where it may. */
  readonly messages: readonly Message[] | undefined;
}

export const noPast: Past = { entries: [], items: [], messages: [] };

/** A past of any kind. */
export function pastOf(entries: readonly Entry[]): Past {
  return { entries, items: itemsOf(entries), messages: undefined };
}

/** The past of a chain of plain talk. */
interface PlainPast {
  readonly tip: ChainLink;
  readonly past: Past & { readonly messages: readonly Message[] };
  readonly characters: number;
}

/** How many chains are kept. */
const maxChains = 32;
/** The most characters of a chain that is kept. */
const maxCharacters = 500_000;

const beginning = { past: { entries: [], items: [], messages: [] }, characters: 0 } as const;

export class Pasts {
  /** The last used first. */
  #kept: readonly PlainPast[] = [];

  /** The past of a chain, oldest link first. Frozen links are taken for the same whenever they come again. */
  of(links: readonly ChainLink[]): Past {
    const tip = links.at(-1);
    if (!tip) return noPast;
    const known = this.#find(tip);
    if (known) return known.past;
    const before = this.#find(links.at(-2));
    const added = (before ? [tip] : links).map(entriesOf);
    if (!added.every(isPlainTalk)) return pastOf(links.flatMap(entriesOf));
    const now = extended(before ?? beginning, added.flat(), tip);
    if (Object.isFrozen(tip) && now.characters <= maxCharacters) this.#keep(now);
    return now.past;
  }

  #find(tip: ChainLink | undefined): PlainPast | undefined {
    const found = this.#kept.find((it) => it.tip === tip);
    if (found) this.#keep(found);
    return found;
  }

  #keep(used: PlainPast): void {
    this.#kept = [used, ...this.#kept.filter((it) => it !== used)].slice(0, maxChains);
  }
}

function extended(
  { past, characters }: Pick<PlainPast, "past" | "characters">,
  entries: readonly Entry[],
  tip: ChainLink,
): PlainPast {
  const messages = toMessages(entries).map((message) => Object.freeze(message));
  return {
    tip,
    past: {
      entries: past.entries.concat(entries),
      items: past.items.concat(itemsOf(entries)),
      messages: past.messages.concat(messages),
    },
    characters: messages.reduce((sum, message) => sum + charactersOf(message), characters),
  };
}

function charactersOf(message: Message): number {
  const thinking = message.role === "assistant" ? message.reasoning : undefined;
  return (message.content?.length ?? 0) + (thinking?.length ?? 0);
}

const entriesByLink = new WeakMap<ChainLink, readonly Entry[]>();

/** A store may give the same links again and again, so the derived entries can be cached. */
function entriesOf(link: ChainLink): readonly Entry[] {
  const before = entriesByLink.get(link);
  if (before) return before;
  const { id, isClosed, input, output } = link;
  const entries = [
    ...input.map((item) => ({ item })),
    ...withoutCutAnswers(output).map(({ item, turn }) => ({ item, group: `${id} ${turn}`, isClosed })),
  ];
  entriesByLink.set(link, entries);
  return entries;
}

function itemsOf(entries: readonly Entry[]): readonly JsonObject[] {
  return entries.map(({ item }) => item as unknown as JsonObject);
}

/**
 * Whether a link is a prompt and its answer, in words: no calls, images or system messages, nothing sealed. Where it ends
 * in an answer that a client sent, the next item may still be a part of that.
 */
function isPlainTalk(entries: readonly Entry[]): boolean {
  const last = entries.at(-1);
  if (last && last.group === undefined && (last.item as unknown as JsonObject)["role"] !== "user")
    return false;
  return entries.every(({ item }, index) => {
    const { type, role, content, encrypted_content: sealed } = item as unknown as JsonObject;
    if (type === "reasoning") return index > 0 && sealed == null;
    if (type !== "message") return false;
    return role === "user" ? isText(content) : role === "assistant" && index > 0;
  });
}

function isText(content: JsonObject[string] | undefined): boolean {
  if (!Array.isArray(content)) return typeof content === "string";
  return content.every((part) => (part as JsonObject | null)?.["type"] === "input_text");
}
