// Lets the reader of a piece of markup be written as if all of the text were there: where it is not yet, the
// generator yields, and goes on when more has come. No character is looked at twice.

import { isSpace } from "./json-scanner.ts";

/** Longer than any name of a tool or a parameter, with its namespace. */
const maxNameLength = 256;

/** A generator that yields to ask for more text. */
export type Reading<T> = Generator<void, T, void>;

/** The text since the markup opened, and how far it has been read. */
export class Cursor {
  /** What has come but is not read, from `position` on. */
  buffer = "";
  position = 0;
  /** No more text will come. */
  isEnd = false;
  #chunks: string[] = [];
  #dropped = 0;

  feed(text: string): void {
    this.#chunks.push(text);
    this.#dropped += this.position;
    this.buffer = this.position === this.buffer.length ? text : this.buffer.slice(this.position) + text;
    this.position = 0;
  }

  /** How many characters have been read. */
  get offset(): number {
    return this.#dropped + this.position;
  }

  /** The offset of `buffer[0]`. */
  get base(): number {
    return this.#dropped;
  }

  /** Goes back to an offset, for text that turned out to belong to what follows. */
  rewind(offset: number): void {
    if (offset < this.#dropped) {
      this.buffer = this.slice(offset);
      this.#dropped = offset;
    }
    this.position = offset - this.#dropped;
  }

  get rest(): string {
    return this.buffer.slice(this.position);
  }

  /** A part of all that has come, by offsets. */
  slice(start: number, end?: number): string {
    if (this.#chunks.length > 1) this.#chunks = [this.#chunks.join("")];
    return (this.#chunks[0] ?? "").slice(start, end);
  }
}

/** The next character, without reading it. Undefined at the end. */
export function* peek(cursor: Cursor): Reading<string | undefined> {
  while (cursor.position >= cursor.buffer.length) {
    if (cursor.isEnd) return undefined;
    yield;
  }
  return cursor.buffer[cursor.position];
}

/** Reads white space, and gives the character after it. */
export function* skipSpace(cursor: Cursor): Reading<string | undefined> {
  for (;;) {
    const char = yield* peek(cursor);
    if (char === undefined || !isSpace(char)) return char;
    cursor.position++;
  }
}

/** Reads one of the texts, if it comes next: the longest that does. */
export function* literal(cursor: Cursor, ...texts: readonly string[]): Reading<string | undefined> {
  for (;;) {
    const { buffer, position } = cursor;
    const rest = buffer.length - position;
    const match = longest(texts.filter((text) => buffer.startsWith(text, position)));
    const mayGrow = texts.some(
      (text) =>
        text.length > rest && text.length > (match?.length ?? 0) && buffer.endsWith(text.slice(0, rest)),
    );
    if (mayGrow && !cursor.isEnd) {
      yield;
      continue;
    }
    cursor.position += match?.length ?? 0;
    return match;
  }
}

/** Reads up to the first of the stops and over it. `stop` is undefined when the end came first. */
export function* until(
  cursor: Cursor,
  ...stops: readonly string[]
): Reading<{ text: string; stop: string | undefined }> {
  const found = yield* search(cursor, stops, Number.POSITIVE_INFINITY);
  return found ?? { text: "", stop: undefined };
}

/** As `until`, for names: undefined when no stop comes within the length of any name. */
export function* untilSoon(
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
  const pieces: string[] = [];
  let length = 0;
  for (;;) {
    const { buffer, position } = cursor;
    let at = buffer.length;
    let stop: string | undefined;
    for (const candidate of stops) {
      const index = buffer.indexOf(candidate, position);
      if (index >= 0 && index < at) [at, stop] = [index, candidate];
    }
    if (stop === undefined && !cursor.isEnd) at -= heldBack(buffer, position, stops);
    length += at - position;
    if (length > maxLength) return undefined;
    pieces.push(buffer.slice(position, at));
    cursor.position = at + (stop?.length ?? 0);
    if (stop !== undefined || cursor.isEnd) return { text: pieces.join(""), stop };
    yield;
  }
}

/** How many characters at the end of the text could be the beginning of one of the stops. */
export function heldBack(text: string, from: number, stops: readonly string[]): number {
  const longestStop = Math.max(...stops.map((stop) => stop.length));
  for (let length = Math.min(longestStop - 1, text.length - from); length > 0; length--)
    if (stops.some((stop) => length < stop.length && text.endsWith(stop.slice(0, length)))) return length;
  return 0;
}

function longest(texts: readonly string[]): string | undefined {
  return texts.reduce<string | undefined>(
    (best, text) => (best !== undefined && best.length >= text.length ? best : text),
    undefined,
  );
}
