// A gate between keyboard and input line: passes one line at a time, keeps what is typed ahead, joins the lines of a
// paste, and reports Ctrl-C while no line is read.

import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { InputStream, OutputStream } from "../cli-io.ts";
import { lineBreakSign, withoutControls } from "./text.ts";

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
const altEnter = "\u001b\r";
const ctrlC = "\u0003";
const escapeKey = "\u001b";
const enter = "\r";

export class KeyGate implements Disposable {
  readonly #input: InputStream;
  readonly #output: OutputStream;
  readonly #decoder = new StringDecoder();
  /** Typed, but not passed on yet. */
  #held = "";
  #keys: PassThrough | undefined;
  #isPasting = false;
  #isOver = false;
  #onInterrupt: () => void = () => {};

  /** Takes the keyboard: the terminal no longer echoes. */
  constructor(input: InputStream, output: OutputStream) {
    this.#input = input;
    this.#output = output;
    this.take();
    input.on("data", this.#onData);
    input.on("end", this.#onEnd);
    input.on("error", this.#onEnd);
    input.resume();
  }

  /** Called for each Ctrl-C while no line is read. Typed-ahead text is dropped. */
  set onInterrupt(listener: () => void) {
    this.#onInterrupt = listener;
  }

  /** The keys of the next line, up to its end or until the gate is closed. */
  open(): PassThrough {
    this.close();
    const keys = new PassThrough();
    this.#keys = keys;
    // The reader has to listen first.
    setImmediate(() => this.#pass());
    return keys;
  }

  close(): void {
    this.#keys = undefined;
  }

  /** Sets the terminal up for the input line; also after a suspend. */
  take(): void {
    this.#input.setRawMode?.(true);
    this.#output.write("\u001b[?2004h");
  }

  /** Restores the terminal. */
  giveBack(): void {
    this.#output.write("\u001b[?2004l");
    this.#input.setRawMode?.(false);
  }

  [Symbol.dispose](): void {
    this.close();
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.off("error", this.#onEnd);
    this.giveBack();
    this.#input.pause();
  }

  readonly #onData = (chunk: Buffer | string) => {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    this.#held += text;
    if (this.#keys) this.#pass();
    else {
      // Two quick presses may come in one chunk.
      const presses = (text === ctrlC ? text : withoutPastes(this.#held)).split(ctrlC).length - 1;
      if (presses > 0) this.#held = "";
      for (let press = 0; press < presses; press++) this.#onInterrupt();
    }
  };

  readonly #onEnd = () => {
    this.#isOver = true;
    this.#pass();
  };

  /** Passes on held keys, up to the end of the line. */
  #pass(): void {
    let text = "";
    while (this.#keys && this.#held !== "") {
      const piece = this.#isPasting ? this.#nextOfPaste() : this.#nextKeys();
      if (piece === undefined) break;
      text += piece;
      if (piece === enter || piece === ctrlC) {
        // Either ends the line; the rest is for the next reader.
        this.#keys.write(text);
        this.close();
        return;
      }
    }
    if (text !== "") this.#keys?.write(text);
    if (this.#isOver && this.#held === "") this.#keys?.end();
  }

  /** Keys up to a line end or a paste; undefined while an escape sequence is incomplete. */
  #nextKeys(): string | undefined {
    if (this.#held.startsWith(pasteStart)) {
      this.#isPasting = true;
      this.#take(pasteStart.length);
      return "";
    }
    if (this.#held.startsWith(altEnter)) {
      this.#take(altEnter.length);
      return lineBreakSign;
    }
    // A lone Escape may start any sequence, so only longer prefixes of a paste are waited for.
    if (!this.#isOver && this.#held.length > 2 && pasteStart.startsWith(this.#held)) return undefined;
    if (this.#held.startsWith(ctrlC)) return this.#take(1);
    if (/^[\r\n]/.test(this.#held)) {
      this.#take(this.#held.startsWith("\r\n") ? 2 : 1);
      return enter;
    }
    const ends = [enter, "\n", ctrlC, escapeKey]
      .map((sign) => this.#held.indexOf(sign, 1))
      .filter((at) => at > 0);
    return this.#take(Math.min(this.#held.length, ...ends));
  }

  /** Pasted text, with signs for its line breaks. */
  #nextOfPaste(): string | undefined {
    const end = this.#held.indexOf(pasteEnd);
    if (end < 0 && !this.#isOver) return undefined;
    const text = this.#take(end < 0 ? this.#held.length : end);
    this.#take(pasteEnd.length);
    this.#isPasting = false;
    const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "");
    return withoutControls(lines).replaceAll("\n", lineBreakSign).replaceAll("\t", "  ");
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }
}

/** The text without pastes: inside them Ctrl-C is not a key. */
function withoutPastes(text: string): string {
  return text
    .split(pasteStart)
    .map((part, index) => (index === 0 ? part : (part.split(pasteEnd, 2)[1] ?? "")))
    .join("");
}
