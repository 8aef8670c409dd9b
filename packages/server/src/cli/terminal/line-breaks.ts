// An input line has one line. A line break in it is shown by a sign, which becomes a line break again when it is sent.

/** "Symbol for newline": made for this, and in no text by chance. */
export const lineBreakSign = "␤";

export function toInputLine(text: string): string {
  return text.replaceAll("\n", lineBreakSign);
}

export function fromInputLine(line: string): string {
  return line.replaceAll(lineBreakSign, "\n");
}
