// Separates the text of a model into text for the user, thinking and tool calls. Only what could still become markup
// is held back; everything else is emitted at once.

import { toolNameMatcher } from "../match-tool-name.ts";
import type { ModelProfile } from "../profile.ts";
import { Cursor, type Reading } from "./cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialects/dialect.ts";
import type { Frame } from "./frames.ts";
import { indexFrom } from "./index-from.ts";
import { findOpener, type Markup, markupOf, type Opener } from "./markup.ts";
import { OpenThinking } from "./open-thinking.ts";
import { defaultLimits, type ReadingLimits, RereadBudget } from "./reading-limits.ts";
import { unlessInSentence } from "./sentence.ts";
import type { ThinkTags } from "./think-tags.ts";
import type { OpenCallFinder } from "./thinking-calls.ts";
import { UnreadText } from "./unread-text.ts";
import { VisibleText } from "./visible-text.ts";

/** Receives the parts of the text. */
export interface TextSink {
  text(text: string): void;
  thinking(text: string): void;
  call(call: TextCall): void;
  /** The text that the next calls were read from. Default: not needed. */
  markup?(text: string): void;
  warn(message: string): void;
}

/** How the answer ended. */
export interface TextEnding {
  /** The server also sent `tool_calls`. */
  readonly hasOtherCalls: boolean;
  /** It was cut off. */
  readonly isCutOff: boolean;
}

/** Markup that is being read, until it is known whether it is a call. */
interface Block {
  readonly opener: Opener;
  readonly cursor: Cursor;
  readonly reading: Reading<readonly TextCall[] | undefined>;
  /** The dialects to try if this one does not match. */
  readonly others: readonly Dialect[];
  /** Where it begins in the whole text. */
  readonly start: number;
  /** How far earlier dialects have read, and whether the text ended inside a value for one of them. */
  readonly reach: number;
  readonly endsInValue: boolean;
}

export class TextReader {
  readonly #sink: TextSink;
  readonly #markup: Markup;
  readonly #openCallFinder: OpenCallFinder | undefined;
  readonly #tools: DialectTools;
  readonly #limits: ReadingLimits;
  readonly #budget: RereadBudget;
  readonly #visible: VisibleText;
  readonly #unread = new UnreadText();
  /** Before this offset of the whole text, no markup is searched. */
  #plainUntil = 0;
  #thinking: OpenThinking | undefined;
  /** Whether text or a call has come. */
  #hasAnswer = false;
  /** The frame that the text is in, or was in: several tokens may close it. */
  #frame: Frame | undefined;
  #isFramed = false;
  #block: Block | undefined;
  /** The end of the text so far, if it could begin an opener. */
  #held = "";
  #isEnd = false;
  #hasThought = false;
  #hasSeparateThinking = false;
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
    this.#tools = {
      match: toolNameMatcher(toolNames),
      mayBegin: (text) => toolNames.some((name) => name.toLowerCase().startsWith(text.toLowerCase())),
    };
    this.#markup = markupOf(profile, toolNames.length > 0);
    if (toolNames.length > 0 && profile.thinkTags.length > 0) {
      // Functions that are assigned directly live until the next full garbage collection.
      const openCallFinder = (innerSink: TextSink) => {
        const inner: ModelProfile = { ...profile, thinkTags: noTags, startsThinking: false };
        return new TextReader(inner, toolNames, innerSink, limits);
      };
      this.#openCallFinder = openCallFinder;
    }
    this.#visible = new VisibleText({
      sink: {
        text: (text) => {
          this.#hasAnswer = true;
          sink.text(text);
        },
      },
      hasMarkup: this.#markup.openers.length > 0,
      maxSpaceLength: limits.spaceLength,
    });
    if (profile.startsThinking && profile.thinkTags.length > 0) this.#startThinking(profile.thinkTags, false);
  }

  /** Thinking came in a field of its own, so the text does not begin inside it. */
  thinkingCameSeparately(): void {
    this.#hasSeparateThinking = true;
    if (this.#thinking?.isUntouched) this.#thinking = undefined;
  }

  /** How many characters were read or copied, for tests: it grows linearly with the text. */
  get work(): number {
    return this.#work;
  }

  write(text: string): void {
    this.#readOn(text);
  }

  /** Settles everything that was held back. */
  end({ hasOtherCalls, isCutOff }: TextEnding): void {
    this.#isEnd = true;
    while (this.#block || this.#held !== "") {
      if (this.#block) this.#advance(this.#block, "");
      else this.#unread.putBack([this.#take()]);
      this.#readOn();
    }
    if (this.#thinking) this.#endInThinking(this.#thinking, !hasOtherCalls && !isCutOff);
    else this.#visible.end({ hasCalls: this.#callCount > 0 || hasOtherCalls });
  }

  #endInThinking(thinking: OpenThinking, mayAnswer: boolean): void {
    const { calls, lostText, warning } = thinking.end({ mayAnswer });
    this.#work += thinking.work;
    for (const call of calls) this.#sink.call(call);
    if (lostText !== "") this.#sink.text(lostText);
    if (warning !== undefined) this.#sink.warn(warning);
  }

  /** Whether the current piece is the last one. */
  get #isLast(): boolean {
    return this.#isEnd && this.#unread.isEmpty;
  }

  #take(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  #readOn(next: string | undefined = this.#unread.next()): void {
    for (let text = next; text !== undefined; text = this.#unread.next()) {
      const rest = this.#passPlain(text);
      if (rest !== "") this.#step(this.#unread.takeOf(rest));
    }
  }

  /** Emits the beginning of a long text that certainly has no markup, and returns the rest. */
  #passPlain(text: string): string {
    const { search, longest } = this.#markup;
    const isPlain = !this.#thinking && !this.#block && this.#held === "" && !this.#visible.isAtMargin;
    if (!isPlain || text.length < 4 * longest || this.#unread.offset < this.#plainUntil) return text;
    const found = text.search(search);
    // The end may be the beginning of an opener.
    const end = Math.min(found < 0 ? text.length : found, text.length - longest);
    this.#work += end;
    this.#unread.skip(end);
    this.#visible.write(text.slice(0, end));
    return text.slice(end);
  }

  /** Reads a piece until the mode changes, and puts the rest back. */
  #step(piece: string): void {
    if (this.#thinking) this.#think(this.#thinking, piece);
    else if (this.#block) this.#advance(this.#block, piece);
    else if (this.#unread.offset - piece.length < this.#plainUntil) this.#emitPlain(piece);
    else this.#scan(this.#held === "" ? piece : this.#take() + piece);
  }

  /** Emits text without searching it. */
  #emitPlain(piece: string): void {
    const length = this.#plainUntil - (this.#unread.offset - piece.length);
    this.#work += Math.min(length, piece.length);
    this.#unread.putBack([piece.slice(length)]);
    this.#visible.write(piece.slice(0, length));
  }

  #think(thinking: OpenThinking, piece: string): void {
    const rest = thinking.write(piece);
    this.#work += piece.length - (rest?.length ?? 0);
    if (rest === undefined) return;
    this.#work += thinking.work;
    this.#thinking = undefined;
    this.#endThinking();
    this.#unread.putBack([rest]);
  }

  /** Searches text for markup. The hot path: most chunks have no character that could begin any. */
  #scan(text: string): void {
    let from = this.#visible.takeSpace(text);
    this.#work += from;
    if (from === text.length) return;
    const first = from;
    const { openers, candidate, start } = this.#markup;
    for (let i = from; i >= 0; i = indexFrom(candidate, text, i + 1)) {
      const isStart = i === first && this.#visible.isEmpty;
      const isAtMargin = i === first && this.#visible.isAtMargin;
      const place = { isEmpty: isStart, isAtMargin, isLast: this.#isLast };
      const possible = openers[text.charCodeAt(i)];
      const { opener = isStart ? start : undefined, mayGrow } = findOpener(possible, text, i, place);
      if (!opener && !mayGrow) continue;
      this.#work += i - from;
      this.#visible.write(text.slice(from, i));
      from = i;
      // What is quoted, or in a message to the user, is not a call.
      if (this.#visible.isQuoted || (this.#isFramed && !mayGrow && opener?.dialects.length)) continue;
      if (mayGrow) this.#held = text.slice(i);
      else if (opener) this.#open(opener, text.slice(i));
      return;
    }
    this.#work += text.length - from;
    this.#visible.write(from === 0 ? text : text.slice(from));
  }

  /** The text begins with the opener. */
  #open(opener: Opener, text: string): void {
    if (opener.dialects.length > 0) {
      this.#startBlock(opener, opener.dialects, text);
      return;
    }
    this.#unread.putBack([text.slice(opener.text.length)]);
    if (opener.closes !== undefined) this.#startThinking([[opener.text, opener.closes]], true);
    else if (opener.opensFrame ?? opener.closesFrames ?? opener.isTurnToken) this.#readFrame(opener);
    else this.#strayClose(opener.text);
  }

  #startThinking(tags: ThinkTags, isOpen: boolean): void {
    this.#thinking = new OpenThinking({
      tags,
      isOpen,
      hasAnswer: this.#hasAnswer,
      emit: (text) => this.#sink.thinking(text),
      openCallFinder: this.#openCallFinder,
    });
  }

  /** Drops a token around the text, or emits it if it does not belong there. */
  #readFrame({ text, opensFrame, closesFrames, isTurnToken }: Opener): void {
    const isClosing = this.#frame !== undefined && closesFrames?.includes(this.#frame);
    if (opensFrame || isClosing) {
      this.#frame = opensFrame ?? this.#frame;
      this.#isFramed = opensFrame !== undefined;
      this.#visible.endMarkup("thinking");
    } else if (!isTurnToken || !this.#visible.isAfterMarkup) this.#visible.write(text);
  }

  /**
   * A closing tag that nothing opened. The text before it was emitted, so it stays text; the tag itself is dropped.
   * Only the first: after regular thinking, the text probably mentions the tag.
   */
  #strayClose(tag: string): void {
    if (this.#hasThought) {
      this.#visible.write(tag);
      return;
    }
    if (!this.#hasSeparateThinking)
      this.#sink.warn(
        `The text has a ${tag} that nothing opened. If this model begins its answers inside thinking, set the profile's startsThinking to true.`,
      );
    this.#endThinking();
  }

  #endThinking(): void {
    this.#hasThought = true;
    this.#visible.endMarkup("thinking");
  }

  /** Begins to read markup, which starts with `text`, with the first of the dialects. */
  #startBlock(
    opener: Opener,
    [dialect, ...others]: readonly Dialect[],
    text: string,
    { reach, endsInValue }: Pick<Block, "reach" | "endsInValue"> = { reach: 0, endsInValue: false },
  ): void {
    const start = this.#unread.offset - text.length;
    const cursor = new Cursor(text.slice(0, this.#limits.callLength), opener.text.length);
    this.#unread.putBack([text.slice(cursor.length)]);
    const calls = (dialect as Dialect).read(cursor, this.#tools, opener.text);
    const reading = this.#visible.isInLine ? unlessInSentence(cursor, calls) : calls;
    this.#block = { opener, cursor, reading, others, start, reach, endsInValue };
    this.#advance(this.#block, "");
  }

  /** Resumes the dialect, up to the length limit of a call. */
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

  /** Continues after the markup, or inside it if it was ordinary text: other markup may begin there. */
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
      this.#hasAnswer = true;
      this.#sink.markup?.(cursor.slice(0, cursor.offset));
      for (const call of calls) this.#sink.call(call);
      this.#visible.endMarkup("call");
    } else this.#plainUntil = start + 1;
    if (mayReadAgain && !endsInValue) return;
    this.#plainUntil = reach;
    if (mayReadAgain) return;
    this.#sink.warn(
      "The text has too much markup that is not a tool call, so not all of it was searched for calls.",
    );
  }

  /** The content of the markup could be read as calls of its own, so nothing from here on is searched. */
  #giveUp({ cursor }: Block, reason: string): void {
    this.#work += cursor.length;
    this.#block = undefined;
    this.#unread.putBack(cursor.from(0));
    this.#plainUntil = Number.POSITIVE_INFINITY;
    this.#sink.warn(
      `The text has ${reason}. Everything from there on was read as text, and no call in it was run.`,
    );
  }
}

/** There is no more thinking inside thinking. One list, so that its markup is cached. */
const noTags: ThinkTags = [];
