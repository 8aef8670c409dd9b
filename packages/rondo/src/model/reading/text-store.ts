// Stores text that arrives in pieces, so that reading a part of it costs time in proportion to that part.

/** Smaller pieces are merged into parts of about this length: a list of single characters takes much memory. */
const partLength = 1024;

export class TextStore {
  readonly #parts: string[] = [];
  /** Where each part begins. */
  readonly #starts: number[] = [];
  /** The text since the last part. */
  #tail = "";
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    if (this.#tail === "" && text.length >= partLength) {
      this.#starts.push(this.#length);
      this.#parts.push(text);
    } else this.#tail += text;
    this.#length += text.length;
    if (this.#tail.length >= partLength) this.#closeTail();
  }

  /** The text between two offsets, in pieces. */
  pieces(start: number, end: number): string[] {
    if (start >= end) return [];
    this.#closeTail();
    const pieces: string[] = [];
    for (let i = this.#partAt(start); i < this.#parts.length; i++) {
      const base = this.#starts[i] as number;
      if (base >= end) break;
      const part = this.#parts[i] as string;
      const isWhole = start <= base && end >= base + part.length;
      pieces.push(isWhole ? part : part.slice(Math.max(0, start - base), end - base));
    }
    return pieces;
  }

  /** Drops everything after the first `length` characters. */
  truncate(length: number): void {
    this.#closeTail();
    while (this.#length > length) {
      const part = this.#parts.pop() as string;
      const start = this.#starts.pop() as number;
      this.#length = start;
      if (start < length) this.add(part.slice(0, length - start));
    }
  }

  #closeTail(): void {
    if (this.#tail === "") return;
    this.#starts.push(this.#length - this.#tail.length);
    // Concatenated text retains its pieces until it is copied.
    this.#parts.push(copyText(this.#tail));
    this.#tail = "";
  }

  /** The index of the part with the character at an offset. */
  #partAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/**
 * A copy in memory of its own. In V8 a slice refers to the whole string, so that twenty characters could retain
 * megabytes.
 */
export function copyText(text: string): string {
  const middle = text.length >>> 1;
  return [text.slice(0, middle), text.slice(middle)].join("");
}
