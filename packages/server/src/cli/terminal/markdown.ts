// Markdown for a terminal, as it streams: headings, lists, quotes, code, tables, bold and italic. What is drawn is never
// drawn again, so text is held back where its meaning is not known yet: an open mark, the start of a line, a table.

import { renderableLength, renderInline } from "./markdown-inline.ts";
import { isDelimiterRow, renderTable } from "./markdown-table.ts";
import type { Style } from "./style.ts";

/** An open mark, or a table, that grows beyond this is text. */
const maxHeld = 4096;
const maxTableLines = 500;

/** The start of a line that may become a mark. */
const undecidedStart = /^\s*(?:#{1,6}|[-*+>]|`{1,2}|~{1,2})?$/;

type Paint = (text: string) => string;

export class MarkdownWriter {
  readonly #style: Style;
  readonly #columns: () => number;
  /** Received, and not drawn yet: a part of one line. */
  #held = "";
  /** How long a held line must be to be looked at again: at each piece, a long one would take too long. */
  #nextLook = 0;
  /** The last character of the line that was drawn. */
  #before = "";
  /** How the rest of the line is drawn; undefined at its start. */
  #paint: Paint | undefined;
  /** The marks that end the block of code that is open. */
  #fence: string | undefined;
  /** The lines of a table, or of what may become one. */
  #table: string[] = [];

  constructor(style: Style, columns: () => number) {
    this.#style = style;
    this.#columns = columns;
  }

  /** Takes a piece of an answer. Gives what can be drawn now. It must have no control characters. */
  write(text: string): string {
    let drawn = "";
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#held += text.slice(from, end);
      drawn += this.#endLine();
      from = end + 1;
    }
    this.#held += text.slice(from);
    return drawn + this.#drawSome();
  }

  /** The answer is over: gives everything that was held back. */
  end(): string {
    let drawn = "";
    if (this.#held !== "" || this.#paint) drawn += this.#endLine().replace(/\n$/, "");
    drawn += this.#endTable().replace(/\n$/, "");
    this.#fence = undefined;
    return drawn;
  }

  /** Draws as much of an incomplete line as is certain. */
  #drawSome(): string {
    if (this.#held === "") return "";
    if (!this.#paint) {
      const isWhole =
        /^\s*(?:\||`{3}|~{3})/.test(this.#held) || this.#fence !== undefined || this.#table.length > 0;
      if (this.#held.length <= maxHeld && (isWhole || undecidedStart.test(this.#held))) return "";
      return this.#beginLine() + this.#drawSome();
    }
    if (this.#held.length < this.#nextLook) return "";
    const length =
      this.#held.length > maxHeld ? this.#held.length : renderableLength(this.#held, this.#before);
    const text = this.#held.slice(0, length);
    const drawn = this.#inline(text);
    this.#before = text.at(-1) ?? this.#before;
    this.#held = this.#held.slice(length);
    this.#nextLook = this.#held.length + (this.#held.length >> 5);
    return drawn;
  }

  /** Decides what the line is, and draws its mark. */
  #beginLine(): string {
    const { bold, dim } = this.#style;
    const table = this.#endTable();
    const [, indent = "", mark = ""] = /^(\s*)(#{1,6} |[-*+] |> ?)?/.exec(this.#held) ?? [];
    const isMark = mark !== "" && !(mark.startsWith("#") && indent.length > 3);
    this.#paint = isMark && mark.startsWith("#") ? bold : (text) => text;
    if (isMark) this.#held = this.#held.slice(indent.length + mark.length);
    if (!isMark || mark.startsWith("#")) return table;
    return `${table}${indent}${mark.startsWith(">") ? dim("│ ") : "• "}`;
  }

  #endLine(): string {
    const line = this.#held;
    if (this.#paint) return this.#endText();
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (this.#fence !== undefined) {
      this.#held = "";
      const isEnd = fence?.startsWith(this.#fence) && line.trim() === fence;
      if (isEnd) this.#fence = undefined;
      return `${isEnd ? this.#style.dim(line) : this.#style.cyan(line)}\n`;
    }
    if (fence !== undefined) {
      this.#held = "";
      this.#fence = fence;
      return `${this.#endTable()}${this.#style.dim(line)}\n`;
    }
    if (this.#takesIntoTable(line)) {
      this.#held = "";
      this.#table.push(line);
      return this.#table.length > maxTableLines ? this.#endTable() : "";
    }
    // A short line whose start was not decided: it is what it looks like.
    return this.#beginLine() + this.#endText();
  }

  #endText(): string {
    const drawn = `${this.#inline(this.#held)}\n`;
    this.#held = "";
    this.#nextLook = 0;
    this.#before = "";
    this.#paint = undefined;
    return drawn;
  }

  #takesIntoTable(line: string): boolean {
    if (line.length > maxHeld) return false;
    if (this.#table.length === 0) return /^\s*\|/.test(line);
    return this.#table.length === 1 ? isDelimiterRow(line) : line.includes("|");
  }

  /** Draws the table that is over; as it came if it is none, or too wide. */
  #endTable(): string {
    const lines = this.#table;
    if (lines.length === 0) return "";
    this.#table = [];
    const rows = lines.length > 1 ? renderTable(lines, this.#columns(), this.#style) : undefined;
    return (rows ?? lines).map((line) => `${line}\n`).join("");
  }

  #inline(text: string): string {
    // Finding the marks of a very long line takes long.
    const styled = text.length > maxHeld ? text : renderInline(text, this.#style, this.#before).styled;
    return this.#paint ? this.#paint(styled) : styled;
  }
}
