// Server-sent events: bytes in, payloads out, synchronously. However the bytes are split, the payloads are
// the same.

import { createParser, type EventSourceParser } from "eventsource-parser";

/** Takes the data of one event, and the event's name if it has one. */
export type TakePayload = (data: string, event: string | undefined) => void;

/** llama.cpp writes errors as a field of this name, which the standard ignores. */
const errorField = "error:";

export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** The start of a line that may become an error field; it waits for the rest of the name. */
  #held = "";
  #isAtLineStart = true;

  constructor(take: TakePayload) {
    this.#parser = createParser({ onEvent: ({ data, event }) => take(data, event) });
  }

  /** Takes the next bytes. Throws what the callback throws. */
  read(bytes: Uint8Array): void {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    if (text === "") return;
    this.#held = this.#possibleErrorField(text);
    this.#pass(this.#held === "" ? text : text.slice(0, -this.#held.length));
  }

  /** Ends the stream. A last event without its blank line still counts. */
  end(): void {
    this.#pass(`${this.#held}${this.#decoder.decode()}\n\n`);
  }

  #pass(text: string): void {
    const isAtLineStart = this.#isAtLineStart;
    if (text !== "") this.#isAtLineStart = isLineBreak(text.charCodeAt(text.length - 1));
    this.#parser.feed(hasErrorField(text, isAtLineStart) ? renameErrorFields(text, isAtLineStart) : text);
  }

  /** The end of the text, if it is the start of a line that could become `error:`. */
  #possibleErrorField(text: string): string {
    if (isLineBreak(text.charCodeAt(text.length - 1))) return ""; // as nearly always
    for (let length = Math.min(text.length, errorField.length - 1); length > 0; length -= 1) {
      const start = text.length - length;
      if (!errorField.startsWith(text.slice(start))) continue;
      const isLineStart = start === 0 ? this.#isAtLineStart : isLineBreak(text.charCodeAt(start - 1));
      if (isLineStart) return text.slice(start);
    }
    return "";
  }
}

/** Whether the text may have an error field. */
function hasErrorField(text: string, isAtLineStart: boolean): boolean {
  if (isAtLineStart && text.startsWith(errorField)) return true;
  // Searched from the line break, which is rarer than letters.
  return text.includes("\nerror") || text.includes("\rerror");
}

function renameErrorFields(text: string, isAtLineStart: boolean): string {
  return text.replace(/(^|[\r\n])error:/g, (field, before: string, offset: number) =>
    before === "" && offset === 0 && !isAtLineStart ? field : `${before}event:error\ndata:`,
  );
}

function isLineBreak(charCode: number): boolean {
  return charCode === 10 || charCode === 13;
}
