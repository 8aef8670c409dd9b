// Tracks the cursor's line for streams that may share a terminal.

/** Whether the cursor is at the start of a line. */
export interface Cursor {
  isAtStart: boolean;
}

/** Writes text in pieces, and can end an open line. */
export class LineWriter {
  readonly #write: (text: string) => void;
  readonly #cursor: Cursor;

  /** Writers that share a terminal share the `cursor`. */
  constructor(write: (text: string) => void, cursor: Cursor = { isAtStart: true }) {
    this.#write = write;
    this.#cursor = cursor;
  }

  /** Writes a piece. `paint` may add escape codes. */
  write(text: string, paint: (text: string) => string = (it) => it): void {
    if (text === "") return;
    this.#write(paint(text));
    this.#cursor.isAtStart = text.endsWith("\n");
  }

  /** Ends the line, if one is open. */
  endLine(): void {
    if (!this.#cursor.isAtStart) this.write("\n");
  }

  /** Writes whole lines. */
  line(text: string, paint?: (text: string) => string): void {
    this.endLine();
    this.write(text, paint);
    this.write("\n");
  }
}
