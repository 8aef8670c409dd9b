// Text that was not read yet, or is to be read again.

import { copyText } from "./text-store.ts";

/** Longer pieces are split, so that joining two pieces, or retaining a part of one, stays cheap. */
const pieceLength = 1024;

export class UnreadText {
  /** In reverse order: the next piece is the last. */
  readonly #pieces: string[] = [];
  #offset = 0;

  /** The offset of the next character in the whole text. */
  get offset(): number {
    return this.#offset;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** What comes next, of any length. It is to be taken, in pieces or by `skip()`. */
  next(): string | undefined {
    return this.#pieces.pop();
  }

  /** Passes over characters of what comes next. */
  skip(length: number): void {
    this.#offset += length;
  }

  /** The first piece of a text that comes next; keeps the rest. */
  takeOf(text: string): string {
    if (text.length <= 2 * pieceLength) {
      this.#offset += text.length;
      return text;
    }
    this.#pieces.push(text.slice(pieceLength));
    this.#offset += pieceLength;
    return copyText(text.slice(0, pieceLength));
  }

  /** Returns pieces that were taken last, to be read again. */
  putBack(pieces: readonly string[]): void {
    for (let i = pieces.length - 1; i >= 0; i--) {
      const piece = pieces[i] as string;
      if (piece === "") continue;
      this.#pieces.push(piece);
      this.#offset -= piece.length;
    }
  }
}
