// Tells apart, in the text that a model writes, what is for the user, what is thinking and what is a tool call.
// Only what could still become markup is held back; everything else goes on at once.

import { toolNameMatcher } from "../match-tool-name.ts";
import type { ModelProfile } from "../profile.ts";
import { Cursor, type Reading } from "./cursor.ts";
import type { Dialect, OfferedTools, TextCall } from "./dialects/dialect.ts";
import { markupOf, type Opener } from "./markup.ts";
import { defaultLimits, type ReadingLimits, RereadBudget } from "./reading-limits.ts";
import { ThinkingReader } from "./thinking-reader.ts";
import { UnreadText } from "./unread-text.ts";
import { VisibleText } from "./visible-text.ts";

/** Where the parts of the text go. */
export interface TextSink {
  text(text: string): void;
  thinking(text: string): void;
  call(call: TextCall): void;
  warn(message: string): void;
}

/** Markup that is being read, as long as it is not known whether it is a call. */
interface Block {
  readonly opener: Opener;
  readonly cursor: Cursor;
  readonly reading: Reading<readonly TextCall[] | undefined>;
  /** The dialects still to be tried if this is not the right one. */
  readonly others: readonly Dialect[];
  /** Where it begins in the whole text. */
  readonly start: number;
  /** How far the dialects that were tried before have read, and whether the text ended within a value of theirs. */
  readonly reach: number;
  readonly endsInValue: boolean;
}

export class TextReader {
  readonly #sink: TextSink;
  readonly #openers: readonly Opener[];
  readonly #triggers: Uint8Array;
  readonly #tools: OfferedTools;
  readonly #limits: ReadingLimits;
  readonly #budget: RereadBudget;
  readonly #visible: VisibleText;
  readonly #unread = new UnreadText();
  /** Before this character of the whole text no markup is looked for. */
  #plainUntil = 0;
  #thinking: ThinkingReader | undefined;
  #block: Block | undefined;
  /** The end of the text so far, which could be the beginning of an opener. */
  #held = "";
  #isEnd = false;
  #hasThought = false;
  #isThinkingApart = false;
  #callCount = 0;
  #work = 0;

  constructor(
    profile: ModelProfile,
    toolNames: readonly string[],
    sink: TextSink,
    limits: ReadingLimits = defaultLimits,
  ) {
    this.#sink = sink;
    this.#limits = limits;
    this.#budget = new RereadBudget(limits);
    this.#tools = { match: toolNameMatcher(toolNames) };
    const { openers, triggers } = markupOf(profile, toolNames.length > 0);
    this.#openers = openers;
    this.#triggers = triggers;
    this.#visible = new VisibleText({
      sink,
      hasMarkup: openers.length > 0,
      maxSpaceLength: limits.spaceLength,
    });
    if (profile.startsThinking && profile.thinkTags.length > 0)
      this.#thinking = new ThinkingReader(profile.thinkTags, sink);
  }

  /** Thinking has come by a way of its own: then the text does not begin with it. */
  thinkingIsApart(): void {
    this.#isThinkingApart = true;
    if (this.#thinking?.isUntouched) this.#thinking = undefined;
  }

  /** How many characters were looked at or copied, for tests: it grows no faster than the text. */
  get work(): number {
    return this.#work;
  }

  write(text: string): void {
    if (text === "") return;
    this.#step(this.#unread.takeOf(text));
    if (!this.#unread.isEmpty) this.#readOn();
  }

  /** Decides about all that was held back. `hasOtherCalls` when the server has sent calls by the proper way too. */
  end({ hasOtherCalls }: { hasOtherCalls: boolean }): void {
    this.#isEnd = true;
    while (this.#block || this.#held !== "") {
      if (this.#block) this.#advance(this.#block, "");
      else this.#unread.putBack([this.#take()]);
      this.#readOn();
    }
    if (this.#thinking) {
      this.#thinking.end();
      if (this.#thinking.isImplicit && !this.#thinking.isUntouched)
        this.#sink.warn(
          "The answer ended inside thinking: no closing tag came. If this model does not think, set the profile's startsThinking to false.",
        );
    } else this.#visible.end({ hasCalls: this.#callCount > 0 || hasOtherCalls });
  }

  /** Whether nothing comes after the piece that is being read. */
  get #isLast(): boolean {
    return this.#isEnd && this.#unread.isEmpty;
  }

  #take(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #readOn(): void {
    for (let piece = this.#unread.take(); piece !== undefined; piece = this.#unread.take()) this.#step(piece);
  }

  /** Reads a piece as far as the mode lasts, and puts the rest back. */
  #step(piece: string): void {
    if (this.#thinking) this.#think(this.#thinking, piece);
    else if (this.#block) this.#advance(this.#block, piece);
    else if (this.#unread.offset - piece.length < this.#plainUntil) this.#passOn(piece);
    else this.#scan(this.#held === "" ? piece : this.#take() + piece);
  }

  /** Gives out as text what is not to be looked through. */
  #passOn(piece: string): void {
    const length = this.#plainUntil - (this.#unread.offset - piece.length);
    this.#work += Math.min(length, piece.length);
    this.#unread.putBack([piece.slice(length)]);
    this.#visible.write(piece.slice(0, length));
  }

  #think(thinking: ThinkingReader, piece: string): void {
    const rest = thinking.write(piece);
    this.#work += piece.length - (rest?.length ?? 0);
    if (rest === undefined) return;
    this.#thinking = undefined;
    this.#endThinking();
    this.#unread.putBack([rest]);
  }

  /** Looks for markup in text. The hot path: most chunks have no character that could begin any. */
  #scan(text: string): void {
    let from = this.#visible.takeSpace(text);
    this.#work += from;
    if (from === text.length) return;
    const first = from;
    for (let i = from; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128 || this.#triggers[code] === 0) continue;
      const isFirst = i === first && this.#visible.isEmpty;
      const { opener, mayGrow } = this.#match(text, i, isFirst);
      if (!opener && !mayGrow) continue;
      this.#work += i - from;
      this.#visible.write(text.slice(from, i));
      from = i;
      if (this.#visible.isQuoted) continue;
      if (mayGrow) this.#held = text.slice(i);
      else if (opener) this.#open(opener, text.slice(i));
      return;
    }
    this.#work += text.length - from;
    this.#visible.write(from === 0 ? text : text.slice(from));
  }

  /** The longest opener at this place, and whether a longer one could still come. */
  #match(text: string, at: number, isFirst: boolean): { opener: Opener | undefined; mayGrow: boolean } {
    let opener: Opener | undefined;
    let mayGrow = false;
    const rest = text.length - at;
    const next = text.charCodeAt(at + 1) || 0;
    for (const candidate of this.#openers) {
      if (candidate.isWholeAnswer && !isFirst) continue;
      if (next > 0 && candidate.second > 0 && candidate.second !== next) continue;
      const { length } = candidate.text;
      if (length <= rest) {
        if (length > (opener?.text.length ?? 0) && text.startsWith(candidate.text, at)) opener = candidate;
      } else if (!this.#isLast && text.endsWith(candidate.text.slice(0, rest))) mayGrow = true;
    }
    return { opener, mayGrow };
  }

  /** The text begins with the opener. */
  #open(opener: Opener, text: string): void {
    if (opener.dialects.length > 0) {
      this.#startBlock(opener, opener.dialects, text);
      return;
    }
    this.#unread.putBack([text.slice(opener.text.length)]);
    if (opener.closes === undefined) this.#strayClose(opener.text);
    else this.#thinking = new ThinkingReader([[opener.text, opener.closes]], this.#sink, { isOpen: true });
  }

  /**
   * A closing tag that nothing opened. The text before it has gone out, so it stays text; the tag itself is
   * markup, and is dropped. Only the first: after proper thinking it is more likely a word about the tag.
   */
  #strayClose(tag: string): void {
    if (this.#hasThought) {
      this.#visible.write(tag);
      return;
    }
    if (!this.#isThinkingApart)
      this.#sink.warn(
        `The text has a ${tag} that nothing opened. If this model begins its answers inside thinking, set the profile's startsThinking to true.`,
      );
    this.#endThinking();
  }

  #endThinking(): void {
    this.#hasThought = true;
    this.#visible.endMarkup("thinking");
  }

  /** Begins to read markup, of which `text` is the beginning, with the first of the dialects. */
  #startBlock(
    opener: Opener,
    [dialect, ...others]: readonly Dialect[],
    text: string,
    { reach, endsInValue }: Pick<Block, "reach" | "endsInValue"> = { reach: 0, endsInValue: false },
  ): void {
    const start = this.#unread.offset - text.length;
    const cursor = new Cursor(text.slice(0, this.#limits.callLength), opener.text.length);
    this.#unread.putBack([text.slice(cursor.length)]);
    const reading = (dialect as Dialect).read(cursor, this.#tools, opener.text);
    this.#block = { opener, cursor, reading, others, start, reach, endsInValue };
    this.#advance(this.#block, "");
  }

  /** Lets the dialect read on, up to the limit of a call. */
  #advance(block: Block, text: string): void {
    const { cursor, reading } = block;
    if (text !== "") {
      const room = this.#limits.callLength - cursor.length;
      this.#unread.putBack([text.slice(room)]);
      if (room === 0) {
        this.#giveUp(block, `a tool call longer than ${this.#limits.callLength} characters`);
        return;
      }
      cursor.feed(text.slice(0, room));
    }
    cursor.isEnd = this.#isLast;
    const { done, value: calls } = reading.next();
    if (done) this.#finish(block, calls);
  }

  /** Goes on after the markup, or within it when it is ordinary text after all: markup may still begin there. */
  #finish(block: Block, calls: readonly TextCall[] | undefined): void {
    const { opener, cursor, others, start } = block;
    const reach = Math.max(block.reach, start + cursor.reach);
    const endsInValue = block.endsInValue || cursor.endsInValue;
    this.#work += cursor.work;
    this.#block = undefined;
    if (!calls && others.length > 0) {
      const [text = "", ...rest] = cursor.from(0);
      this.#unread.putBack(rest);
      this.#startBlock(opener, others, text, { reach, endsInValue });
      return;
    }
    this.#callCount += calls?.length ?? 0;
    if (this.#callCount > this.#limits.calls) {
      this.#giveUp(block, `more than ${this.#limits.calls} tool calls`);
      return;
    }
    this.#unread.putBack(cursor.from(calls ? cursor.offset : 0));
    const mayReadAgain = this.#budget.spend(reach - this.#unread.offset, reach);
    if (calls) {
      for (const call of calls) this.#sink.call(call);
      this.#visible.endMarkup("call");
    } else this.#plainUntil = start + 1;
    if (mayReadAgain && !endsInValue) return;
    this.#plainUntil = reach;
    if (mayReadAgain) return;
    this.#sink.warn(
      "The text has very much markup that is not a tool call, so not all of it was looked through.",
    );
  }

  /** What the markup holds could be read as calls of its own, so neither it nor what follows is looked through. */
  #giveUp({ cursor }: Block, reason: string): void {
    this.#work += cursor.length;
    this.#block = undefined;
    this.#unread.putBack(cursor.from(0));
    this.#plainUntil = Number.POSITIVE_INFINITY;
    this.#sink.warn(`The text has ${reason}. From there on it was taken as text, and no call in it was run.`);
  }
}
