// Shows a Markdown text that grows. Blocks that are complete stay as they are; only the last one is rendered again, and
// of code that is still being written only the new part is appended.

import { decorate } from "./decorate.ts";
import { type Block, parseBlocks, plainBlock, toHtml } from "./parse-blocks.ts";
import { sanitize } from "./sanitize.ts";

/** A text is read in steps of this length, so that the work for each is bounded. */
const stepChars = 16_000;
/** A block that is longer is cut, and goes on as plain text. */
const maxBlockChars = 32_000;

/** A block of code whose end has not come yet. */
interface OpenCode {
  readonly end: RegExp;
  readonly node: Text;
  /** Up to where the text is shown. */
  shown: number;
  /** Where the last line begins. */
  line: number;
}

export class MarkdownView {
  readonly #root: HTMLElement;
  #text = "";
  /** Where the last block begins. */
  #start = 0;
  #last: readonly Node[] = [];
  #code: OpenCode | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Shows `text`, which usually begins with what is shown already. */
  update(text: string): void {
    const clean = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!clean.startsWith(this.#text)) this.#clear();
    while (this.#text.length < clean.length) this.#advance(clean.slice(0, this.#text.length + stepChars));
  }

  #advance(text: string): void {
    this.#text = text;
    if (this.#code && this.#appendCode(this.#code)) return;
    const blocks = parseBlocks(text.slice(this.#start));
    for (const node of this.#last) node.parentNode?.removeChild(node);
    for (const [index, block] of blocks.entries()) {
      const isLast = index === blocks.length - 1;
      const isTooLong = block.raw.length > maxBlockChars && block.tokens[0]?.type !== "code";
      const nodes = this.#append(isTooLong ? plainBlock(block.raw) : block);
      this.#last = isLast && !isTooLong ? nodes : [];
      if (!isLast || isTooLong) this.#start += block.raw.length;
    }
    this.#code = this.#openCode();
  }

  #append(block: Block): Node[] {
    const fragment = sanitize(toHtml(block));
    decorate(fragment);
    const nodes = [...fragment.childNodes];
    this.#root.append(fragment);
    return nodes;
  }

  /** The last block, if it is code that begins at the start of a line and has no end yet. */
  #openCode(): OpenCode | undefined {
    const source = this.#text.slice(this.#start);
    const fence = /^(`{3,}|~{3,})[^\n]*\n/.exec(source);
    const code = this.#last.find((node) => node instanceof HTMLElement)?.querySelector("code");
    if (!fence?.[1] || !code) return undefined;
    const end = new RegExp(`^ {0,3}${fence[1]}${fence[1][0]}*[ \\t]*$`, "m");
    const shown = this.#start + fence[0].length;
    if (end.test(this.#text.slice(shown))) return undefined;
    const node = document.createTextNode("");
    code.replaceChildren(node);
    const open = { end, node, shown, line: shown };
    this.#appendCode(open);
    return open;
  }

  /** Appends what is new; false if the code is over. */
  #appendCode(open: OpenCode): boolean {
    if (open.end.test(this.#text.slice(open.line))) {
      this.#code = undefined;
      return false;
    }
    open.line = Math.max(open.line, this.#text.lastIndexOf("\n") + 1);
    // A line that may become the end waits until it is decided.
    const isUndecided = /^[ `~]*$/.test(this.#text.slice(open.line));
    const until = isUndecided ? Math.max(open.line, open.shown) : this.#text.length;
    open.node.appendData(this.#text.slice(open.shown, until));
    open.shown = until;
    return true;
  }

  #clear(): void {
    this.#root.replaceChildren();
    this.#text = "";
    this.#start = 0;
    this.#last = [];
    this.#code = undefined;
  }
}
