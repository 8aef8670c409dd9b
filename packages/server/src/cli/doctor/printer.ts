// Shows findings as they come: with colours and a progress line on a terminal, else as plain lines.

import type { Finding } from "../../check/finding.ts";
import type { CliIo } from "../cli-io.ts";
import { startSpinner } from "../terminal/spinner.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { oneLine, withoutControls } from "../terminal/text.ts";

export class Printer {
  readonly #io: CliIo;
  readonly #isSilent: boolean;
  readonly #style: Style;
  #title = "";
  #endProgress = () => {};

  /** A silent one prints nothing: with `--json` all is in the document. */
  constructor(io: CliIo, isSilent: boolean) {
    this.#io = io;
    this.#isSilent = isSilent;
    this.#style = createStyle(hasColours(io.output.isTTY === true, io.env));
  }

  /** Begins a section; the same title again continues it. */
  title(text: string): void {
    if (text === this.#title) return;
    this.#write(`${this.#title === "" ? "" : "\n"}${this.#style.bold(text)}`);
    this.#title = text;
  }

  /** A line without a mark. */
  note(text: string, depth: number, look: "bold" | "dim" = "dim"): void {
    this.#write(`${"  ".repeat(depth)}${this.#style[look](withoutControls(text))}`);
  }

  finding({ status, message, advice }: Finding, depth = 1, text = message): void {
    const { green, yellow, red, dim } = this.#style;
    const mark = { ok: green("✓"), warning: yellow("!"), failed: red("✗"), skipped: dim("-") }[status];
    const indent = "  ".repeat(depth);
    this.#write(`${indent}${mark} ${aligned(text, `${indent}  `)}`);
    if (advice !== undefined) this.#write(`${indent}  → ${aligned(advice, `${indent}    `)}`);
  }

  result(finding: Finding): void {
    this.#write("");
    this.finding(finding, 0);
  }

  /** What is in progress until the next line; `limitMs` is how long it may take. */
  progress(text: string, limitMs?: number): void {
    this.clear();
    if (this.#isSilent || this.#io.output.isTTY !== true) return;
    const limit = limitMs === undefined ? "" : `, up to ${limitMs / 1000} s`;
    this.#endProgress = startSpinner({
      write: (it) => this.#io.write(it),
      // A line that wraps could not be removed.
      text: oneLine(`${text}${limit}`, (this.#io.output.columns ?? 80) - 3),
      paint: this.#style.dim,
    });
  }

  /** Removes the progress line. */
  clear(): void {
    this.#endProgress();
    this.#endProgress = () => {};
  }

  #write(text: string): void {
    this.clear();
    if (!this.#isSilent) this.#io.write(`${text}\n`);
  }
}

/** Keeps several lines under their mark, and terminal control sequences of servers out. */
function aligned(text: string, indent: string): string {
  return withoutControls(text).trimEnd().replaceAll("\n", `\n${indent}`);
}
