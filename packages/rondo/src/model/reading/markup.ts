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
  /** 1 for each pair of ASCII characters that begins an opener anywhere in the text; index: 128 × first + second. */
  readonly pairs: Uint8Array;
  /** The same for the first of them alone. */
  readonly triggers: Uint8Array;
  /** What is tried at the very beginning of an answer, whatever it begins with. */
  readonly start: Opener | undefined;
}

const withTools = new WeakMap<ModelProfile, Markup>();
const withoutTools = new WeakMap<ModelProfile, Markup>();

/** Cached for each profile. */
export function markupOf(profile: ModelProfile, hasTools: boolean): Markup {
  const known = hasTools ? withTools : withoutTools;
  const earlier = known.get(profile);
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
  known.set(profile, markup);
  return markup;
}

function indexed(all: readonly Opener[]): Omit<Markup, "start"> {
  const openers: Opener[][] = [];
  const pairs = new Uint8Array(128 * 128);
  const triggers = new Uint8Array(128);
  for (const opener of all) {
    const first = opener.text.charCodeAt(0);
    openers[first] = [...(openers[first] ?? []), opener];
    if (opener.isFirst) continue;
    triggers[first] = 1;
    if (opener.second === 0) pairs.fill(1, 128 * first, 128 * first + 128);
    else if (opener.second < 128) pairs[128 * first + opener.second] = 1;
  }
  return { openers, pairs, triggers };
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

function addDialects(profile: ModelProfile, add: Add): void {
  // A user's profile may have unknown names.
  const known: Readonly<Partial<Record<string, readonly Dialect[]>>> = toolDialects;
  const dialects = [...new Set(profile.toolDialects.flatMap((name) => known[name] ?? []))];
  for (const text of new Set(dialects.flatMap(({ openers }) => openers))) {
    const those = dialects.filter(({ openers }) => openers.includes(text));
    add({ text, dialects: those, isFirst: those.some(({ isWholeAnswer }) => isWholeAnswer) });
  }
}
