// Tells apart, in the text that a model writes, what is for the user, what is thinking and what is a tool call.
// Only what could still become markup is held back; everything else goes on at once.

import { matchToolName } from "../match-tool-name.ts";
import type { ModelProfile } from "../profile.ts";
import { CodeTracker } from "./code-tracker.ts";
import { Cursor, type Reading } from "./cursor.ts";
import type { Dialect, OfferedTools, TextCall } from "./dialects/dialect.ts";
import { dialectsOf } from "./dialects/dialects-of.ts";
import { isSpace } from "./json-scanner.ts";
import { ThinkingReader } from "./thinking-reader.ts";

/** Where the parts of the text go. */
export interface TextSink {
  text(text: string): void;
  thinking(text: string): void;
  call(call: TextCall): void;
  warn(message: string): void;
}

/** A text that begins markup. */
interface Opener {
  readonly text: string;
  /** For thinking: what ends it. For a closing tag that nothing opened: nothing. */
  readonly closes?: string | undefined;
  /** For tool calls: the dialects that begin so, to be tried in turn. */
  readonly dialects: readonly Dialect[];
  readonly isWholeAnswer: boolean;
}

/** Markup that is being read, as long as it is not known whether it is a call. */
interface Block {
  readonly opener: Opener;
  readonly cursor: Cursor;
  readonly reading: Reading<readonly TextCall[] | undefined>;
  /** The dialects still to be tried if this is not the right one. */
  readonly others: readonly Dialect[];
}

/** What begins markup in the answers of a model. */
interface Markup {
  readonly openers: readonly Opener[];
  /** 1 for each character below 128 that begins an opener. All openers begin with such a one. */
  readonly triggers: Uint8Array;
}

export class TextReader {
  readonly #sink: TextSink;
  readonly #openers: readonly Opener[];
  readonly #triggers: Uint8Array;
  readonly #tools: OfferedTools;
  readonly #code = new CodeTracker();
  #thinking: ThinkingReader | undefined;
  #block: Block | undefined;
  /** The end of the text so far, which could be the beginning of an opener. */
  #held = "";
  /** White space since the start, or since markup; undefined once text has come. It is text only if text follows. */
  #margin: string | undefined = "";
  #isAfter: "start" | "thinking" | "call" = "start";
  #lastChar = "";
  #isEnd = false;
  #hasThought = false;
  #isThinkingApart = false;
  #hasCalled = false;

  constructor(profile: ModelProfile, toolNames: readonly string[], sink: TextSink) {
    this.#sink = sink;
    this.#tools = { match: (name) => matchToolName(name, toolNames) };
    const { openers, triggers } = markupOf(profile, toolNames.length > 0);
    this.#openers = openers;
    this.#triggers = triggers;
    if (profile.startsThinking && profile.thinkTags.length > 0)
      this.#thinking = new ThinkingReader(profile.thinkTags, sink);
  }

  /** Thinking has come by a way of its own: then the text does not begin with it. */
  thinkingIsApart(): void {
    this.#isThinkingApart = true;
    if (this.#thinking?.isUntouched) this.#thinking = undefined;
  }

  write(text: string): void {
    let rest = text;
    while (rest !== "") rest = this.#step(rest);
  }

  /** Decides about all that was held back. `hasOtherCalls` when the server has sent calls by the proper way too. */
  end({ hasOtherCalls }: { hasOtherCalls: boolean }): void {
    this.#isEnd = true;
    for (let rest = this.#take(); ; rest = this.#take()) {
      if (rest !== "") this.write(rest);
      else if (this.#block) this.write(this.#advance(this.#block, ""));
      else break;
    }
    if (this.#thinking) {
      this.#thinking.end();
      if (this.#thinking.isImplicit && !this.#thinking.isUntouched)
        this.#sink.warn(
          "The answer ended inside thinking: no closing tag came. If this model does not think, set the profile's startsThinking to false.",
        );
    } else if (this.#margin !== undefined && this.#isAfter === "start" && !this.#hasCalled && !hasOtherCalls)
      this.#sink.text(this.#margin);
  }

  #take(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Reads as far as the mode lasts, and gives the rest. */
  #step(text: string): string {
    if (this.#thinking) return this.#think(this.#thinking, text);
    if (this.#block) return this.#advance(this.#block, text);
    return this.#scan(this.#held === "" ? text : this.#take() + text);
  }

  #think(thinking: ThinkingReader, text: string): string {
    const rest = thinking.write(text);
    if (rest === undefined) return "";
    this.#thinking = undefined;
    this.#endMarkup("thinking");
    return rest;
  }

  #endMarkup(kind: "thinking" | "call"): void {
    this.#margin = "";
    this.#isAfter = kind;
    this.#lastChar = "";
    if (kind === "thinking") this.#hasThought = true;
    else this.#hasCalled = true;
    this.#code.startLine();
  }

  /** Looks for markup in text. The hot path: most chunks have no character that could begin any. */
  #scan(text: string): string {
    let from = 0;
    if (this.#margin !== undefined) {
      while (from < text.length && isSpace(text[from] as string)) from++;
      this.#margin += text.slice(0, from);
      if (from === text.length) return "";
    }
    const first = from;
    for (let i = from; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128 || this.#triggers[code] === 0) continue;
      const isFirst = i === first && this.#margin !== undefined && this.#isAfter !== "call";
      const { opener, mayGrow } = this.#match(text, i, isFirst);
      if (!opener && !mayGrow) continue;
      this.#emit(text.slice(from, i));
      from = i;
      if (this.#isQuoted()) continue;
      if (mayGrow) {
        this.#held = text.slice(i);
        return "";
      }
      if (opener) return this.#open(opener, text.slice(i + opener.text.length));
    }
    this.#emit(from === 0 ? text : text.slice(from));
    return "";
  }

  /** The longest opener at this place, and whether a longer one could still come. */
  #match(text: string, at: number, isFirst: boolean): { opener: Opener | undefined; mayGrow: boolean } {
    let opener: Opener | undefined;
    let mayGrow = false;
    const rest = text.length - at;
    for (const candidate of this.#openers) {
      if (candidate.isWholeAnswer && !isFirst) continue;
      const { length } = candidate.text;
      if (length <= rest) {
        if (length > (opener?.text.length ?? 0) && text.startsWith(candidate.text, at)) opener = candidate;
      } else if (!this.#isEnd && text.endsWith(candidate.text.slice(0, rest))) mayGrow = true;
    }
    return { opener, mayGrow };
  }

  /** Markup that is shown, in code or in quotes, is not meant. */
  #isQuoted(): boolean {
    return this.#lastChar === '"' || this.#lastChar === "'" || this.#code.isInCode;
  }

  #emit(text: string): void {
    if (text === "") return;
    let all = text;
    if (this.#margin !== undefined) {
      // What separates the answer from thinking belongs to neither.
      if (this.#isAfter !== "thinking") all = this.#margin + text;
      this.#margin = undefined;
    }
    if (this.#openers.length > 0) {
      this.#code.push(all);
      this.#lastChar = all[all.length - 1] as string;
    }
    this.#sink.text(all);
  }

  #open(opener: Opener, rest: string): string {
    if (opener.dialects.length > 0) {
      this.#startBlock(opener, opener.dialects);
      return rest;
    }
    if (opener.closes !== undefined) {
      this.#thinking = new ThinkingReader([[opener.text, opener.closes]], this.#sink, { isOpen: true });
      return rest;
    }
    return this.#strayClose(opener.text, rest);
  }

  /**
   * A closing tag that nothing opened. The text before it has gone out, so it stays text; the tag itself is
   * markup, and is dropped. Only the first: after proper thinking it is more likely a word about the tag.
   */
  #strayClose(tag: string, rest: string): string {
    if (this.#hasThought) {
      this.#emit(tag);
      return rest;
    }
    if (!this.#isThinkingApart)
      this.#sink.warn(
        `The text has a ${tag} that nothing opened. If this model begins its answers inside thinking, set the profile's startsThinking to true.`,
      );
    this.#endMarkup("thinking");
    return rest;
  }

  #startBlock(opener: Opener, [dialect, ...others]: readonly Dialect[]): void {
    const cursor = new Cursor();
    cursor.feed(opener.text);
    cursor.position = opener.text.length;
    const reading = (dialect as Dialect).read(cursor, this.#tools, opener.text);
    this.#block = { opener, cursor, reading, others };
  }

  /** Lets the dialect read on. Gives the text after the markup, or all of it when it is none. */
  #advance(block: Block, text: string): string {
    const { opener, cursor, reading, others } = block;
    cursor.feed(text);
    cursor.isEnd = this.#isEnd;
    const { done, value: calls } = reading.next();
    if (!done) return "";
    this.#block = undefined;
    if (calls) {
      for (const call of calls) this.#sink.call(call);
      this.#endMarkup("call");
      return cursor.rest;
    }
    const all = cursor.slice(0);
    if (others.length > 0) {
      this.#startBlock(opener, others);
      return all.slice(opener.text.length);
    }
    // Ordinary text after all; markup may still begin within it.
    this.#emit(all.slice(0, 1));
    return all.slice(1);
  }
}

const withTools = new WeakMap<ModelProfile, Markup>();
const withoutTools = new WeakMap<ModelProfile, Markup>();

/** Worked out once for each profile: a model is asked more than once. */
function markupOf(profile: ModelProfile, hasTools: boolean): Markup {
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
  const add = (opener: Opener) => {
    if (opener.text !== "" && opener.text.charCodeAt(0) < 128 && !openers.has(opener.text))
      openers.set(opener.text, opener);
  };
  for (const [open, close] of profile.thinkTags)
    add({ text: open, closes: close, dialects: [], isWholeAnswer: false });
  for (const [, close] of profile.thinkTags) add({ text: close, dialects: [], isWholeAnswer: false });
  if (!hasTools) return [...openers.values()];
  const dialects = dialectsOf(profile.toolDialects);
  for (const { openers: texts, isWholeAnswer = false } of dialects)
    for (const text of texts)
      add({
        text,
        dialects: dialects.filter((dialect) => dialect.openers.includes(text)),
        isWholeAnswer,
      });
  return [...openers.values()];
}
