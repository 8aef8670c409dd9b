// Tracks Markdown code and quotations in text, so that markup which is only shown (in a fenced or indented block, in
// `a span`, after a `>`) stays text.

import { indexFrom } from "./index-from.ts";

const [tab, newline, carriageReturn, space] = [9, 10, 13, 32];
const [greaterThan, backtick, tilde] = [62, 96, 126];

/** The indentation that makes a block of code, after an empty line. */
const codeIndent = 4;

/** Reads text as it is emitted, and knows whether the next character is inside code. */
export class CodeTracker {
  /** Only white space has come on this line. */
  #isLineStart = true;
  /** The indentation of this line, as far as it has come. */
  #indent = 0;
  /** Whether an indented line would be code: a line without text came before it, or other code. */
  #mayIndent = false;
  /** Whether this line begins with `>`. */
  #isQuote = false;
  /** The length of the current run of backticks or tildes. */
  #run = 0;
  #runChar = 0;
  /** Whether that run began the line. */
  #isRunFirst = false;
  /** The length of the fence that we are in, or 0. */
  #fence = 0;
  #fenceChar = 0;
  /** We are on the line of the opening fence, where backticks would make it a span instead. */
  #isOpeningLine = false;
  /** A fence that closes the block, if nothing else comes on its line. */
  #mayClose = false;
  /** The length of the span that we are in, or 0. A span ends with its line. */
  #span = 0;

  /** Whether words have come on this line. */
  get isInLine(): boolean {
    return !this.#isLineStart;
  }

  /** Whether text that comes now would be shown as code, or as a quotation. */
  get isInCode(): boolean {
    if (this.#fence > 0 || this.#isQuote || this.#isIndented) return true;
    if (this.#run === 0) return this.#span > 0;
    if (this.#isRunFirst && this.#run >= 3) return true;
    return this.#runChar === backtick ? this.#run !== this.#span : this.#span > 0;
  }

  get #isIndented(): boolean {
    return this.#mayIndent && this.#indent >= codeIndent;
  }

  push(text: string): void {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === newline) this.#endLine();
      else if (code === backtick || code === tilde) this.#mark(code);
      else {
        if (this.#run > 0) this.#endRun();
        if (code === space || code === tab || code === carriageReturn) {
          if (this.#isLineStart) this.#indent += code === tab ? codeIndent : code === space ? 1 : 0;
          continue;
        }
        if (this.#isLineStart && code === greaterThan && this.#fence === 0) this.#isQuote = true;
        this.#isLineStart = false;
        this.#mayClose = false;
        // Inside a block, the rest of such a line cannot close it.
        i = (this.#fence > 0 && !this.#isOpeningLine ? lineEnd(text, i) : nextMark(text, i)) - 1;
      }
    }
  }

  /** The next text begins a line. */
  startLine(): void {
    this.#endLine();
    this.#mayIndent = false;
  }

  #mark(char: number): void {
    if (this.#run > 0 && char === this.#runChar) {
      this.#run++;
      return;
    }
    if (this.#run > 0) this.#endRun();
    this.#run = 1;
    this.#runChar = char;
    this.#isRunFirst = this.#isLineStart;
    this.#isLineStart = false;
    this.#mayClose = false;
  }

  #endRun(): void {
    const run = this.#run;
    this.#run = 0;
    if (this.#fence > 0) {
      if (this.#isOpeningLine && this.#runChar === backtick && this.#fenceChar === backtick) {
        // ```like this``` is a span after all.
        this.#fence = 0;
        this.#isOpeningLine = false;
      } else if (this.#isRunFirst && this.#runChar === this.#fenceChar && run >= this.#fence)
        this.#mayClose = true;
    } else if (this.#isRunFirst && run >= 3) {
      this.#fence = run;
      this.#fenceChar = this.#runChar;
      this.#isOpeningLine = true;
    } else if (this.#runChar === backtick) {
      if (this.#span === 0) this.#span = run;
      else if (this.#span === run) this.#span = 0;
    }
  }

  #endLine(): void {
    if (this.#run > 0) this.#endRun();
    if (this.#mayClose) this.#fence = 0;
    this.#mayClose = false;
    this.#isOpeningLine = false;
    this.#mayIndent = this.#isLineStart || this.#isIndented;
    this.#indent = 0;
    this.#isQuote = false;
    this.#isLineStart = true;
    this.#span = 0;
  }
}

/** Where the line ends. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

const marks = /[\n`~]/g;

/** Where the next character is that counts in the middle of a line. */
function nextMark(text: string, from: number): number {
  const next = indexFrom(marks, text, from + 1);
  return next < 0 ? text.length : next;
}
