// Prepares text for a terminal: removes control characters, and truncates to a width.

const segmenter = new Intl.Segmenter();
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;

/** Stands for a line break inside an input line: the Unicode "symbol for newline", which hardly any text contains. */
export const lineBreakSign = "␤";

/** Removes control characters except line breaks and tabs: models and tools must not drive the terminal. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "");
}

/** The approximate width of a text in columns. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** The text on one line of at most `columns`, truncated with `…`. */
export function oneLine(text: string, columns: number): string {
  // Results can be large, so only as much is processed as may fit.
  const line = withoutControls(text.slice(0, columns * 4).replace(/\s+/g, " ")).trim();
  if (text.length <= columns * 4 && widthOf(line) <= columns) return line;
  let cut = "";
  let width = 0;
  for (const { segment } of segmenter.segment(line)) {
    width += widthOf(segment);
    if (width > columns - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}
