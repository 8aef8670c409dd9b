// Reads thinking up to the tag that closes it, without the white space next to the tags.

import { heldBack } from "./cursor.ts";
import { isSpace } from "./json-scanner.ts";

export class ThinkingReader {
  /** Whether no tag has opened it: the profile says that the answer begins so. */
  readonly isImplicit: boolean;
  /** What may still open it; only one is skipped. */
  #opens: readonly string[];
  readonly #closes: readonly string[];
  readonly #sink: { thinking(text: string): void };
  #held = "";
  /** White space that is dropped if the closing tag follows. */
  #space = "";
  #hasText = false;
  #isUntouched = true;

  constructor(
    tags: readonly (readonly [open: string, close: string])[],
    sink: { thinking(text: string): void },
    { isOpen = false }: { isOpen?: boolean } = {},
  ) {
    this.isImplicit = !isOpen;
    this.#opens = isOpen ? [] : tags.map(([open]) => open);
    this.#closes = tags.map(([, close]) => close);
    this.#sink = sink;
  }

  /** Whether nothing has come yet. */
  get isUntouched(): boolean {
    return this.#isUntouched;
  }

  /** Gives the rest after the closing tag, or undefined when it has not come. */
  write(text: string): string | undefined {
    this.#isUntouched = false;
    let buffer = this.#held + text;
    this.#held = "";
    if (this.#opens.length > 0) {
      const after = this.#skipOpen(buffer);
      if (after === undefined) {
        this.#held = buffer;
        return undefined;
      }
      this.#opens = [];
      buffer = after;
    }
    let at = -1;
    let close = "";
    for (const candidate of this.#closes) {
      const index = buffer.indexOf(candidate);
      if (index >= 0 && (at < 0 || index < at)) [at, close] = [index, candidate];
    }
    if (at >= 0) {
      this.#emit(buffer.slice(0, at));
      return buffer.slice(at + close.length);
    }
    const held = heldBack(buffer, 0, this.#closes);
    this.#held = held > 0 ? buffer.slice(-held) : "";
    this.#emit(held > 0 ? buffer.slice(0, -held) : buffer);
    return undefined;
  }

  end(): void {
    this.#emit(this.#held);
    if (this.#hasText && this.#space !== "") this.#sink.thinking(this.#space);
    this.#held = "";
    this.#space = "";
  }

  /** Some models write the opening tag although their template has. Undefined when that cannot be told yet. */
  #skipOpen(buffer: string): string | undefined {
    let start = 0;
    while (start < buffer.length && isSpace(buffer[start] as string)) start++;
    const rest = buffer.slice(start);
    for (const open of this.#opens) {
      if (rest.startsWith(open)) return rest.slice(open.length);
      if (open.startsWith(rest)) return undefined;
    }
    return rest;
  }

  #emit(text: string): void {
    let start = 0;
    if (!this.#hasText) while (start < text.length && isSpace(text[start] as string)) start++;
    let end = text.length;
    while (end > start && isSpace(text[end - 1] as string)) end--;
    if (end > start) {
      this.#sink.thinking(this.#space + text.slice(start, end));
      this.#space = "";
      this.#hasText = true;
    }
    if (this.#hasText) this.#space += text.slice(Math.max(end, start));
  }
}
