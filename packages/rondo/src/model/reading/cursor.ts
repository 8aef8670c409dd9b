// Lets a reader of markup be written as if the whole text were there: a generator yields where text is missing, and
// resumes when more arrives. Nothing is read twice, unless the reader rewinds.

import { isSpace } from "./json-scanner.ts";
import { copyText, TextStore } from "./text-store.ts";

/** Longer than any name of a tool or a parameter, with its namespace. */
export const maxNameLength = 256;

/** A generator that yields to ask for more text. */
export type Reading<T> = Generator<void, T, void>;

/** The text since the markup opened, and how far it has been read. */
export class Cursor {
  /** The unread text, from `position` on. */
  buffer: string;
  position: number;
  /** No more text will come. */
  isEnd = false;
  /** The text broke off inside a value: the content of the value is not markup. */
  endsInValue = false;
  /** How many characters were read or copied, for tests. */
  work = 0;
  /** The text before the buffer. */
  readonly #kept = new TextStore();
  #reach = 0;

  constructor(text: string, position: number) {
    this.buffer = text;
    this.position = position;
  }

  feed(text: string): void {
    const { buffer, position } = this;
    this.#kept.add(buffer.slice(0, position));
    if (position === buffer.length) this.buffer = text;
    else {
      this.buffer = buffer.slice(position) + text;
      this.work += this.buffer.length;
    }
    this.position = 0;
  }

  /** How many characters have come. */
  get length(): number {
    return this.base + this.buffer.length;
  }

  /** How many characters have been read. */
  get offset(): number {
    return this.base + this.position;
  }

  /** The offset of `buffer[0]`. */
  get base(): number {
    return this.#kept.length;
  }

  /** The largest offset that was ever reached. Depends on the text only, not on how it was split. */
  get reach(): number {
    return Math.max(this.#reach, this.offset);
  }

  /** Goes back to an offset, for text that turned out not to belong to the markup. */
  rewind(offset: number): void {
    this.#reach = this.reach;
    if (offset < this.base) {
      this.buffer = this.slice(offset);
      this.#kept.truncate(offset);
    }
    this.position = offset - this.base;
  }

  /** A part of the text, by offsets, as a copy that does not retain the rest. */
  slice(start: number, end: number = this.length): string {
    this.work += end - start;
    const pieces = this.#pieces(start, end);
    return pieces.length === 1 ? copyText(pieces[0] as string) : pieces.join("");
  }

  /** The text from an offset on, in pieces. */
  from(offset: number): string[] {
    return this.#pieces(offset, this.length);
  }

  #pieces(start: number, end: number): string[] {
    const { base } = this;
    const pieces = this.#kept.pieces(start, Math.min(end, base));
    if (end > base) pieces.push(this.buffer.slice(Math.max(0, start - base), end - base));
    this.work += pieces.length;
    return pieces;
  }
}

/** The next character, without reading it. Undefined at the end. */
export function* peek(cursor: Cursor): Reading<string | undefined> {
  while (cursor.position >= cursor.buffer.length) {
    if (cursor.isEnd) return undefined;
    yield;
  }
  cursor.work++;
  return cursor.buffer[cursor.position];
}

/** Reads white space, and returns the character after it. */
export function* skipSpace(cursor: Cursor): Reading<string | undefined> {
  for (;;) {
    const { buffer, position } = cursor;
    let at = position;
    while (at < buffer.length && isSpace(buffer[at] as string)) at++;
    cursor.work += at - position + 1;
    cursor.position = at;
    if (at < buffer.length) return buffer[at];
    if (cursor.isEnd) return undefined;
    yield;
  }
}

/** Reads the longest of the texts that comes next, if any does. */
export function* literal(cursor: Cursor, ...texts: readonly string[]): Reading<string | undefined> {
  for (;;) {
    const { buffer, position } = cursor;
    let match: string | undefined;
    for (const text of texts)
      if (text.length > (match?.length ?? 0) && buffer.startsWith(text, position)) match = text;
    cursor.work += texts.length;
    if (!cursor.isEnd && isPrefix(buffer, position, texts)) {
      yield;
      continue;
    }
    cursor.position += match?.length ?? 0;
    return match;
  }
}

/** Reads white space and one of the texts; neither, if none of them follows the white space. */
export function* literalAfterSpace(cursor: Cursor, ...texts: readonly string[]): Reading<string | undefined> {
  const start = cursor.offset;
  yield* skipSpace(cursor);
  const match = yield* literal(cursor, ...texts);
  if (match === undefined) cursor.rewind(start);
  return match;
}

/** Whether the text ends before, or inside, what may have become one of the texts. */
export function isCutBefore(cursor: Cursor, ...texts: readonly string[]): boolean {
  return cursor.isEnd && isPrefix(cursor.buffer, cursor.position, texts);
}

/** Whether the rest of the buffer is a proper prefix of one of the texts. */
function isPrefix(buffer: string, from: number, texts: readonly string[]): boolean {
  const length = buffer.length - from;
  return texts.some((text) => length < text.length && text.startsWith(buffer.slice(from)));
}

/** Reads up to and including the first of the stops. `stop` is undefined when the end came first. */
export function* until(
  cursor: Cursor,
  ...stops: readonly string[]
): Reading<{ text: string; stop: string | undefined }> {
  const found = yield* search(cursor, stops, Number.POSITIVE_INFINITY);
  return found ?? { text: "", stop: undefined };
}

/** As `until`, for names: undefined when no stop comes within `maxNameLength`. */
export function* untilWithinName(
  cursor: Cursor,
  ...stops: readonly string[]
): Reading<{ text: string; stop: string | undefined } | undefined> {
  return yield* search(cursor, stops, maxNameLength);
}

function* search(
  cursor: Cursor,
  stops: readonly string[],
  maxLength: number,
): Reading<{ text: string; stop: string | undefined } | undefined> {
  const start = cursor.offset;
  const firsts = [...new Set(stops.map((stop) => stop[0] as string))];
  for (;;) {
    const { buffer, position } = cursor;
    const last = start + maxLength - cursor.base;
    let at = indexOfAny(firsts, buffer, position);
    let stop: string | undefined;
    for (; at < buffer.length && at <= last; at = indexOfAny(firsts, buffer, at + 1)) {
      stop = stops.find((candidate) => buffer.startsWith(candidate, at));
      if (stop !== undefined || (!cursor.isEnd && isPrefix(buffer, at, stops))) break;
    }
    cursor.position = Math.min(at, last);
    cursor.work += cursor.position - position + 1;
    if (at > last) return undefined;
    if (stop !== undefined || (cursor.isEnd && at === buffer.length)) {
      const text = cursor.slice(start, cursor.offset);
      cursor.position += stop?.length ?? 0;
      return { text, stop };
    }
    yield;
  }
}

/** The position of the next of some characters, or the end. */
function indexOfAny(chars: readonly string[], text: string, from: number): number {
  if (chars.length === 1) {
    const at = text.indexOf(chars[0] as string, from);
    return at < 0 ? text.length : at;
  }
  let at = from;
  while (at < text.length && !chars.includes(text[at] as string)) at++;
  return at;
}
