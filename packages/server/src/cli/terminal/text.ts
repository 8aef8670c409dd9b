// Text on its way to a terminal: without what would move the cursor, and cut to the width that there is.

const segmenter = new Intl.Segmenter();
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;

/** Takes out control characters but line ends and tabs: what a model or a tool says shall not drive the terminal. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "");
}

/** How many columns a text takes, near enough. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** The text in one line of at most `columns`; what is cut off is told by `…`. */
export function oneLine(text: string, columns: number): string {
  // Nobody reads on beyond the end of the line, and results can be large.
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
