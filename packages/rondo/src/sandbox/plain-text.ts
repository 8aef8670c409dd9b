// Output of sandboxed code, made harmless for a terminal.

const esc = "\\u001b";
const bell = "\\u0007";
const stringEnd = `${bell}|${esc}\\\\|\\u009c`;

/** Colours and cursor movements, and what would set a title or write to the clipboard: sequences up to their end. */
const sequences = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*[@-~]|[\\]P^_X][^${bell}${esc}\\u009c]{0,4096}(?:${stringEnd})|[ -/]*[0-~])`,
  "g",
);

/** All control characters but the line end and the tab, and those that change the direction of the text. */
const controls = /(?![\t\n\r])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Removes esc sequences, and replaces other control characters by U+FFFD. Keeps line ends and tabs. */
export function plainText(text: string): string {
  return text
    .replace(sequences, "")
    .replace(/\r(?!\n)/g, "\n")
    .replace(controls, "\ufffd");
}
