// Rows for people, in columns that line up, or for programs, with tabs between.

import { oneLine, widthOf } from "../terminal/text.ts";

export interface Column {
  readonly title: string;
  /** Paints a text that has its width already. */
  readonly paint?: (text: string) => string;
}

const gap = "  ";
/** Where there is hardly room for the last column it gets this much, and lines wrap. */
const leastLast = 10;

/** The lines of a table, its titles first. The last column is cut to what is left of the width. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  paintTitle: (text: string) => string,
): string[] {
  const titles = columns.map(({ title }) => title);
  const widths = columns.map((_, index) =>
    Math.max(...[titles, ...rows].map((row) => widthOf(row[index] ?? ""))),
  );
  const taken = widths.slice(0, -1).reduce((sum, it) => sum + it + gap.length, 0);
  const last = Math.max(leastLast, width - taken);
  const line = (row: readonly string[], paint: (text: string, index: number) => string) =>
    row
      .map((text, index) => {
        const isLast = index === row.length - 1;
        const cell = isLast ? oneLine(text, last) : text + " ".repeat((widths[index] ?? 0) - widthOf(text));
        return paint(cell, index);
      })
      .join(gap)
      .trimEnd();
  return [
    line(titles, paintTitle),
    ...rows.map((row) => line(row, (text, index) => columns[index]?.paint?.(text) ?? text)),
  ];
}

/** One line for programs: no tab or line end in it but those between. */
export function tabbedLine(cells: readonly string[]): string {
  return cells.map((cell) => cell.replace(/\s+/g, " ").trim()).join("\t");
}
