// Markdown tables that are readable in a terminal.

export type Row = readonly string[];

/** The first row is the header; all columns but the first are right-aligned. */
export function table([head = [], ...rows]: readonly Row[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: Row) =>
    `| ${widths.map((width, i) => (i === 0 ? (row[i] ?? "").padEnd(width) : (row[i] ?? "").padStart(width))).join(" | ")} |`;
  const rule = widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** Only three digits are significant. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return "";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)));
}
