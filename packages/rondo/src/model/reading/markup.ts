// The openers of markup in a model's answers: its think tags, and those of its tool dialects.

import type { ModelProfile } from "../profile.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { toolDialects } from "./dialects/dialects.ts";

/** A text that begins markup. */
export interface Opener {
  readonly text: string;
  /** The code of its second character, which excludes most candidates; 0 if there is none. */
  readonly second: number;
  /** For thinking: its closing tag. Undefined for a closing tag that nothing opened. */
  readonly closes?: string | undefined;
  /** For tool calls: the dialects with this opener, to be tried in order. */
  readonly dialects: readonly Dialect[];
  readonly isWholeAnswer: boolean;
}

export interface Markup {
  readonly openers: readonly Opener[];
  /** 1 for each ASCII character that begins an opener. All openers begin with one. */
  readonly triggers: Uint8Array;
}

const withTools = new WeakMap<ModelProfile, Markup>();
const withoutTools = new WeakMap<ModelProfile, Markup>();

/** Cached for each profile. */
export function markupOf(profile: ModelProfile, hasTools: boolean): Markup {
  const known = hasTools ? withTools : withoutTools;
  const earlier = known.get(profile);
  if (earlier) return earlier;
  const openers = openersOf(profile, hasTools);
  const triggers = new Uint8Array(128);
  for (const { text } of openers) triggers[text.charCodeAt(0)] = 1;
  const markup = { openers, triggers };
  known.set(profile, markup);
  return markup;
}

function openersOf(profile: ModelProfile, hasTools: boolean): readonly Opener[] {
  const openers = new Map<string, Opener>();
  const add = (opener: Omit<Opener, "second">) => {
    if (opener.text !== "" && opener.text.charCodeAt(0) < 128 && !openers.has(opener.text))
      openers.set(opener.text, { ...opener, second: opener.text.charCodeAt(1) || 0 });
  };
  for (const [open, close] of profile.thinkTags)
    add({ text: open, closes: close, dialects: [], isWholeAnswer: false });
  for (const [, close] of profile.thinkTags) add({ text: close, dialects: [], isWholeAnswer: false });
  if (!hasTools) return [...openers.values()];
  // A user's profile may have unknown names.
  const known: Readonly<Partial<Record<string, readonly Dialect[]>>> = toolDialects;
  const dialects = [...new Set(profile.toolDialects.flatMap((name) => known[name] ?? []))];
  for (const { openers: texts, isWholeAnswer = false } of dialects)
    for (const text of texts)
      add({
        text,
        dialects: dialects.filter((dialect) => dialect.openers.includes(text)),
        isWholeAnswer,
      });
  return [...openers.values()];
}
