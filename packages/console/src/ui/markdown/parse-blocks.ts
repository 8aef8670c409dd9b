// Splits Markdown into its blocks, and turns blocks into HTML that still has to be sanitized. The work is bounded: what
// is too long or too deep stays plain text, because reading it would take time that grows with its square.

import { Lexer, Marked, type Token, Tokenizer } from "marked";

/** A block of a text: a paragraph, a list, a table, a block of code. */
export interface Block {
  /** Its source, with the blank lines after it. */
  readonly raw: string;
  readonly tokens: readonly Token[];
}

/** Longer pieces of text without a break are shown without emphasis and links. */
const maxInlineChars = 4_000;
/** So are those with more characters that may begin or end emphasis, code and links. */
const maxDelimiters = 600;
/** A heading that is underlined is looked for in so much of a text. */
const maxHeadingChars = 1_000;

/** A line with more markers of quotes and lists than anybody writes. */
const deepLine = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){12}|^[ \t]{60,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const marked = new Marked({
  gfm: true,
  renderer: {
    // Markup in the text is text.
    html: ({ text, block }) => (block ? plainHtml(text) : escapeHtml(text)),
    // An image would be a request to wherever the model says.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    code: ({ text, lang }) =>
      `<pre data-language="${escapeHtml(/^[\w+#.-]{1,32}/.exec(lang ?? "")?.[0] ?? "")}"><code>${escapeHtml(text)}</code></pre>`,
  },
});

// In a list, each line asks whether it begins such a heading, and would look for its end in all lines after it.
marked.use({
  tokenizer: {
    lheading(text) {
      const end = text.length > maxHeadingChars ? text.lastIndexOf("\n", maxHeadingChars) + 1 : text.length;
      return Tokenizer.prototype.lheading.call(this, text.slice(0, end));
    },
  },
});

/** The blocks of a text that may grow. Together, their sources are the text. */
export interface Blocks {
  /** What is appended to the text cannot change them. */
  readonly complete: readonly Block[];
  readonly open: readonly Block[];
}

export function parseBlocks(text: string): Blocks {
  const blocks = readBlocks(text);
  // A block is complete when the next one begins. Whether it does is decided by its first line, or its first two, as
  // those of a table.
  const lastLine = text.lastIndexOf("\n", text.lastIndexOf("\n") - 1);
  let end = 0;
  let count = 0;
  for (const [index, { raw }] of blocks.entries()) {
    end += raw.length;
    if (index < blocks.length - 1 && end <= lastLine) count = index + 1;
  }
  return { complete: blocks.slice(0, count), open: blocks.slice(count) };
}

function readBlocks(text: string): Block[] {
  if (deepLine.test(text)) return [plainBlock(text)];
  try {
    return blocksOf(lex(text));
  } catch {
    return [plainBlock(text)];
  }
}

/** HTML that has to be sanitized. */
export function toHtml({ raw, tokens }: Block): string {
  try {
    return marked.parser([...tokens]);
  } catch {
    return plainHtml(raw);
  }
}

/** A text as it is, in one block. */
export function plainBlock(raw: string): Block {
  const text = { type: "text", raw, text: raw, escaped: false } as const;
  return { raw, tokens: [{ type: "paragraph", raw, text: raw, tokens: [text] }] };
}

/**
 * A link that is defined elsewhere in the text stays as it was written, and so does its definition: it may come long
 * after the block that uses it was shown.
 */
function lex(text: string): Token[] {
  const lexer = new Lexer(marked.defaults);
  const tokens = lexer
    .blockTokens(text, lexer.tokens)
    .map((token) => (token.type === "def" ? paragraph(lexer, token.raw) : token));
  lexer.tokens.links = {};
  for (const { src, tokens: inline } of lexer.inlineQueue) {
    if (isShort(src)) lexer.inlineTokens(src, inline);
    else inline.push({ type: "text", raw: src, text: src, escaped: false });
  }
  return tokens;
}

function isShort(text: string): boolean {
  if (text.length > maxInlineChars) return false;
  let delimiters = 0;
  for (const character of text) if ("*_~`[]<!".includes(character)) delimiters += 1;
  return delimiters <= maxDelimiters;
}

function paragraph(lexer: Lexer, raw: string): Token {
  return { type: "paragraph", raw, text: raw, tokens: lexer.inline(raw.trimEnd()) };
}

/** Blank lines belong to the block before them. */
function blocksOf(tokens: readonly Token[]): Block[] {
  const blocks: { raw: string; tokens: Token[] }[] = [];
  for (const token of tokens) {
    const last = blocks.at(-1);
    if (last && token.type === "space") last.raw += token.raw;
    else blocks.push({ raw: token.raw, tokens: [token] });
  }
  return blocks;
}

function plainHtml(text: string): string {
  return `<p>${escapeHtml(text)}</p>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}
