// Tables of Markdown, with columns of equal width.

import { renderInline } from "./markdown-inline.ts";
import type { Style } from "./style.ts";
import { widthOf } from "./text.ts";

type Align = "left" | "right" | "centre";

/** Whether a line is the one under a table's head: `|---|:-:|`. */
export function isDelimiterRow(line: string): boolean {
  return line.includes("|") && cellsOf(line).every((cell) => /^:?-+:?$/.test(cell));
}

/**
 * The table: its head, the delimiter row and its rows. Undefined if it is wider than the terminal, or if a row has more
 * cells than there are columns: they would be lost.
 */
export function renderTable(lines: readonly string[], columns: number, style: Style): string[] | undefined {
  const [head = "", delimiters = "", ...body] = lines;
  const aligns = cellsOf(delimiters).map(alignOf);
  // Each column takes a character and what separates it from the next, so that more cannot fit.
  if (aligns.length * 4 - 3 > columns) return undefined;
  const cells = [head, ...body].map(cellsOf);
  if (cells.some(({ length }) => length > aligns.length)) return undefined;
  const rows = cells.map((row) => aligns.map((_, index) => renderInline(row[index] ?? "", style)));
  const widths = aligns.map((_, index) =>
    Math.max(1, ...rows.map((row) => widthOf(row[index]?.plain ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width + 3, -1);
  if (total > columns) return undefined;
  const lineOf = (row: (typeof rows)[number], isHead: boolean) =>
    row
      .map(({ styled, plain }, index) => {
        const text = isHead ? style.bold(styled) : styled;
        return padded(text, (widths[index] ?? 0) - widthOf(plain), aligns[index] ?? "left");
      })
      .join(style.dim(" │ "))
      .trimEnd();
  const [first = [], ...others] = rows;
  const rule = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [lineOf(first, true), rule, ...others.map((row) => lineOf(row, false))];
}

/** The cells of a row. `\|` is a part of one. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function alignOf(cell: string): Align {
  if (!cell.endsWith(":")) return "left";
  return cell.startsWith(":") ? "centre" : "right";
}

function padded(text: string, missing: number, align: Align): string {
  const before = align === "right" ? missing : align === "centre" ? Math.floor(missing / 2) : 0;
  return `${" ".repeat(before)}${text}${" ".repeat(missing - before)}`;
}
