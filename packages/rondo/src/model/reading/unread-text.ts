// The text that has come and was not read yet, or is to be read again.

import { copyText } from "./kept-text.ts";

/** Longer pieces are cut: joining two pieces, or keeping a part of one alive, then never costs much. */
const pieceLength = 1024;

export class UnreadText {
  /** The next piece is the last one here. */
  readonly #pieces: string[] = [];
  #offset = 0;

  /** How many characters of the whole text come before the next one. */
  get offset(): number {
    return this.#offset;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Gives the next piece. */
  take(): string | undefined {
    const text = this.#pieces.pop();
    return text === undefined ? undefined : this.takeOf(text);
  }

  /** Gives the first piece of a text that comes next, and keeps the rest. */
  takeOf(text: string): string {
    if (text.length <= 2 * pieceLength) {
      this.#offset += text.length;
      return text;
    }
    this.#pieces.push(text.slice(pieceLength));
    this.#offset += pieceLength;
    return copyText(text.slice(0, pieceLength));
  }

  /** Takes back what was taken last, to give it again. */
  putBack(pieces: readonly string[]): void {
    for (let i = pieces.length - 1; i >= 0; i--) {
      const piece = pieces[i] as string;
      if (piece === "") continue;
      this.#pieces.push(piece);
      this.#offset -= piece.length;
    }
  }
}
