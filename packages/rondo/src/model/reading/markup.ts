// The openers of markup in a model's answers: its think tags, the frames of its text, and those of its tool dialects.

import type { ModelProfile } from "../profile.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { toolDialects } from "./dialects/dialects.ts";
import { type Frame, knownFrames, turnTokens } from "./frames.ts";
import { sharedCloses } from "./think-tags.ts";

/** A text that begins markup. */
export interface Opener {
  readonly text: string;
  /** The code of its second character, which excludes most candidates; 0 if there is none. */
  readonly second: number;
  /** For thinking: its closing tag. Undefined for a closing tag that nothing opened. */
  readonly closes?: string | undefined;
  /** For a frame of the text: those that it opens and closes. */
  readonly opensFrame?: Frame;
  readonly closesFrames?: readonly Frame[];
  /** Whether it only separates messages. */
  readonly isTurnToken?: boolean;
  /** For tool calls: the dialects with this opener, to be tried in order. */
  readonly dialects: readonly Dialect[];
  /** Whether it counts only where no text has come yet: at all, or for a frame, since the last markup. */
  readonly isFirst: boolean;
}

export interface Markup {
  /** By the code of their first character, which is an ASCII character. */
  readonly openers: readonly (readonly Opener[] | undefined)[];
  /** Finds from `lastIndex` on a character that may begin an opener, by the one after it: most text has none. */
  readonly candidate: RegExp;
  /** Finds any of those that may be anywhere in the text. */
  readonly search: RegExp;
  /** The length of the longest of them. */
  readonly longest: number;
  /** What is tried at the very beginning of an answer, whatever it begins with. */
  readonly start: Opener | undefined;
}

type MarkupProfile = Pick<ModelProfile, "thinkTags" | "toolDialects">;

/** By the think tags, then by the dialects. Many profiles share both. */
const withTools = new WeakMap<object, WeakMap<object, Markup>>();
const withoutTools = new WeakMap<object, WeakMap<object, Markup>>();

/** Cached for each combination of think tags and dialects. */
export function markupOf(profile: MarkupProfile, hasTools: boolean): Markup {
  const cache = hasTools ? withTools : withoutTools;
  const known = cache.get(profile.thinkTags) ?? new WeakMap<object, Markup>();
  cache.set(profile.thinkTags, known);
  const earlier = known.get(profile.toolDialects);
  if (earlier) return earlier;
  const all = new Map<string, Opener>();
  const add = ({ text, ...opener }: Partial<Opener> & { readonly text: string }) => {
    if (text.charCodeAt(0) >= 128 || all.has(text)) return;
    all.set(text, { isFirst: false, dialects: [], ...opener, text, second: text.charCodeAt(1) || 0 });
  };
  for (const [open, close] of profile.thinkTags) if (open !== "") add({ text: open, closes: close });
  if (profile.thinkTags.length > 0) addFrames(add);
  for (const [, close] of profile.thinkTags)
    if (close !== "" && !sharedCloses.has(close)) add({ text: close });
  if (hasTools) addDialects(profile, add);
  const markup = { ...indexed([...all.values()].filter(({ text }) => text !== "")), start: all.get("") };
  known.set(profile.toolDialects, markup);
  return markup;
}

function indexed(all: readonly Opener[]): Omit<Markup, "start"> {
  const openers: Opener[][] = [];
  for (const opener of all) {
    const first = opener.text.charCodeAt(0);
    openers[first] = [...(openers[first] ?? []), opener];
  }
  const anywhere = all.filter(({ isFirst }) => !isFirst).map(({ text }) => text);
  return {
    openers,
    candidate: anyOf(beginnings(anywhere), "g"),
    search: anyOf(anywhere.map(escaped)),
    longest: Math.max(0, ...anywhere.map((text) => text.length)),
  };
}

/** Patterns of the first characters of texts, each if a second one follows it, or may still come. */
function beginnings(texts: readonly string[]): string[] {
  const seconds = new Map<string, Set<string>>();
  for (const text of texts) {
    const first = text.charAt(0);
    seconds.set(first, (seconds.get(first) ?? new Set()).add(escaped(text.charAt(1))));
  }
  return Array.from(seconds, ([first, those]) => `${escaped(first)}(?=${[...those, "$"].join("|")})`);
}

/** Without any pattern, it finds nothing. */
function anyOf(patterns: readonly string[], flags?: string): RegExp {
  return patterns.length > 0 ? new RegExp(patterns.join("|"), flags) : new RegExp("(?!)", flags);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

type Add = (opener: Partial<Opener> & { readonly text: string }) => void;

function addFrames(add: Add): void {
  for (const frame of knownFrames)
    for (const text of frame.opens)
      add({ text, opensFrame: frame, isFirst: true, isTurnToken: turnTokens.includes(text) });
  for (const text of new Set(knownFrames.flatMap(({ closes }) => closes)))
    add({
      text,
      closesFrames: knownFrames.filter(({ closes }) => closes.includes(text)),
      isTurnToken: turnTokens.includes(text),
    });
  for (const text of turnTokens) add({ text, isTurnToken: true, isFirst: true });
}

function addDialects(profile: MarkupProfile, add: Add): void {
  // A user's profile may have unknown names.
  const known: Readonly<Partial<Record<string, readonly Dialect[]>>> = toolDialects;
  const dialects = [...new Set(profile.toolDialects.flatMap((name) => known[name] ?? []))];
  for (const text of new Set(dialects.flatMap(({ openers }) => openers))) {
    const those = dialects.filter(({ openers }) => openers.includes(text));
    add({ text, dialects: those, isFirst: those.some(({ isWholeAnswer }) => isWholeAnswer) });
  }
}

/** Where in the text an opener is looked for. */
export interface OpenerPlace {
  /** No text and no call has come since the start or the last thinking. */
  readonly isEmpty: boolean;
  /** No text has come since the start or the last markup. */
  readonly isAtMargin: boolean;
  /** No more text will come. */
  readonly isLast: boolean;
}

/** The longest opener at a position, and whether a longer one could still follow. */
export function findOpener(
  candidates: readonly Opener[] = [],
  text: string,
  at: number,
  { isEmpty, isAtMargin, isLast }: OpenerPlace,
): { opener: Opener | undefined; mayGrow: boolean } {
  let opener: Opener | undefined;
  let mayGrow = false;
  const rest = text.length - at;
  const next = text.charCodeAt(at + 1) || 0;
  for (const candidate of candidates) {
    const isAround = candidate.opensFrame !== undefined || candidate.isTurnToken;
    if (candidate.isFirst && !(isAround ? isAtMargin : isEmpty)) continue;
    if (next > 0 && candidate.second > 0 && candidate.second !== next) continue;
    const { length } = candidate.text;
    if (length <= rest) {
      if (length > (opener?.text.length ?? 0) && text.startsWith(candidate.text, at)) opener = candidate;
    } else if (!isLast && text.endsWith(candidate.text.slice(0, rest))) mayGrow = true;
  }
  return { opener, mayGrow };
}
