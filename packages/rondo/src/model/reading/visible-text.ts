// The text for the user: what surrounds the markup, without the white space that only separates it.

import { CodeTracker } from "./code-tracker.ts";
import { isSpace } from "./json-scanner.ts";

/** So much text may be kept untracked. */
const maxUntracked = 1_048_576;

export interface VisibleTextOptions {
  readonly sink: { text(text: string): void };
  /** Whether `isQuoted` is needed. */
  readonly hasMarkup: boolean;
  /** How much white space may be held back. */
  readonly maxSpaceLength: number;
}

export class VisibleText {
  readonly #options: VisibleTextOptions;
  readonly #tracker = new CodeTracker();
  /** What was emitted and not tracked yet: most text has no markup, and then nobody asks whether it is in code. */
  #untracked: string[] = [];
  #untrackedLength = 0;
  /** White space since the start, or since markup; undefined once text has come. It is text only if text follows. */
  #margin: string | undefined = "";
  #isAfter: "start" | "thinking" | "call" = "start";
  #lastChar = "";

  constructor(options: VisibleTextOptions) {
    this.#options = options;
  }

  get #code(): CodeTracker {
    if (this.#untracked.length > 0) {
      for (const text of this.#untracked) this.#tracker.push(text);
      this.#untracked = [];
      this.#untrackedLength = 0;
    }
    return this.#tracker;
  }

  /** Whether words have come on the line of this point. */
  get isInLine(): boolean {
    return this.#code.isInLine;
  }

  /** Whether markup at this point is only quoted, in code or in quotation marks. */
  get isQuoted(): boolean {
    return this.#lastChar === '"' || this.#lastChar === "'" || this.#code.isInCode;
  }

  /** Whether no text and no call has come since the start or the last thinking. */
  get isEmpty(): boolean {
    return this.#margin !== undefined && this.#isAfter !== "call";
  }

  /** Whether no text has come since the start or the last markup. */
  get isAtMargin(): boolean {
    return this.#margin !== undefined;
  }

  /** Whether markup came last. */
  get isAfterMarkup(): boolean {
    return this.#margin !== undefined && this.#isAfter !== "start";
  }

  /** Takes leading white space that may have to be dropped, and returns its length. */
  takeSpace(text: string): number {
    if (this.#margin === undefined) return 0;
    // White space between thinking and the answer belongs to neither.
    const isDropped = this.#isAfter === "thinking";
    const room = isDropped ? text.length : this.#options.maxSpaceLength - this.#margin.length;
    let end = 0;
    while (end < text.length && end < room && isSpace(text[end] as string)) end++;
    if (isDropped || end === 0) return end;
    this.#margin += text.slice(0, end);
    if (end === room) this.#endMargin();
    return end;
  }

  write(text: string): void {
    if (text === "") return;
    if (this.#margin !== undefined) this.#endMargin();
    this.#emit(text);
  }

  /** The next text follows markup. */
  endMarkup(kind: "thinking" | "call"): void {
    this.#margin = "";
    this.#isAfter = kind;
    this.#lastChar = "";
    this.#code.startLine();
  }

  /** Ends the text. White space alone is emitted if there is nothing else. */
  end({ hasCalls }: { hasCalls: boolean }): void {
    if (this.#isAfter === "start" && !hasCalls && this.#margin !== undefined)
      this.#options.sink.text(this.#margin);
  }

  #endMargin(): void {
    const margin = this.#margin ?? "";
    this.#margin = undefined;
    if (margin !== "") this.#emit(margin);
  }

  #emit(text: string): void {
    if (this.#options.hasMarkup) {
      this.#untracked.push(text);
      this.#untrackedLength += text.length;
      if (this.#untrackedLength > maxUntracked) void this.#code;
      this.#lastChar = text[text.length - 1] as string;
    }
    this.#options.sink.text(text);
  }
}
