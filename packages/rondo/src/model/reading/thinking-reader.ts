// Reads thinking up to the tag that closes it, without the white space next to the tags.

import { isSpace } from "./json-scanner.ts";

/** White space longer than this belongs to the thinking, even next to a tag. */
const maxSpaceLength = 65_536;

export class ThinkingReader {
  /** Whether no tag opened it: the profile says that the text starts inside thinking. */
  readonly isImplicit: boolean;
  /** The opening tags that may still come; only one is skipped. */
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

  /** Returns the rest after the closing tag; undefined until it comes. */
  write(text: string): string | undefined {
    this.#isUntouched = false;
    let buffer = this.#held + text;
    this.#held = "";
    if (this.#opens.length > 0) {
      buffer = this.#skipOpen(withoutSpace(buffer));
      if (this.#opens.length > 0) {
        this.#held = buffer;
        return undefined;
      }
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
    const held = heldBack(buffer, this.#closes);
    this.#held = held > 0 ? buffer.slice(-held) : "";
    this.#emit(held > 0 ? buffer.slice(0, -held) : buffer);
    return undefined;
  }

  end(): void {
    const held = this.#opens.length > 0 ? this.#skipOpen(this.#held, true) : this.#held;
    this.#emit(held);
    if (this.#hasText && this.#space !== "") this.#sink.thinking(this.#space);
    this.#held = "";
    this.#space = "";
  }

  /** Skips an opening tag that a model wrote although its template did. Clears `opens` once that is decided. */
  #skipOpen(text: string, isEnd = false): string {
    const opens = this.#opens;
    if (!isEnd && opens.some((open) => open.length > text.length && open.startsWith(text))) return text;
    this.#opens = [];
    const skipped = opens.filter((open) => text.startsWith(open)).map((open) => open.length);
    return text.slice(Math.max(0, ...skipped));
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
    if (!this.#hasText) return;
    this.#space += text.slice(Math.max(end, start));
    while (this.#space.length >= maxSpaceLength) {
      this.#sink.thinking(this.#space.slice(0, maxSpaceLength));
      this.#space = this.#space.slice(maxSpaceLength);
    }
  }
}

function withoutSpace(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text[start] as string)) start++;
  return start === 0 ? text : text.slice(start);
}

/** How many characters at the end of the text could be the beginning of one of the stops. */
function heldBack(text: string, stops: readonly string[]): number {
  const longestStop = Math.max(...stops.map((stop) => stop.length));
  for (let length = Math.min(longestStop - 1, text.length); length > 0; length--)
    if (stops.some((stop) => length < stop.length && text.endsWith(stop.slice(0, length)))) return length;
  return 0;
}
