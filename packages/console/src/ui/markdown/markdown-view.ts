// Shows a Markdown text that grows. Blocks that are complete stay as they are; only the last is rendered again. Of a list
// or a table, it is only what changed of it, and of code that is still being written, the new part is appended.

import { type BlockParts, partNodes, partsOf, unchangedParts, withoutParts } from "./block-parts.ts";
import { decorate } from "./decorate.ts";
import { morph } from "./morph.ts";
import { type Block, parseBlocks, plainBlock, toHtml } from "./parse-blocks.ts";
import { sanitize } from "./sanitize.ts";

/** A text is read in steps of this length, one in a frame, so that the page answers in between. */
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
  /** Where the blocks begin that can still change. */
  #start = 0;
  /** What is shown of these. */
  #open: readonly Node[] = [];
  #code: OpenCode | undefined;
  /** Of the last block, if it is all that can still change. */
  #parts: BlockParts | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Shows more of `text`, which usually begins with what is shown already. Returns whether all of it is shown. */
  update(text: string): boolean {
    const clean = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!clean.startsWith(this.#text)) this.#clear();
    if (this.#text.length < clean.length) this.#advance(clean.slice(0, this.#text.length + stepChars));
    return this.#text.length === clean.length;
  }

  #advance(text: string): void {
    this.#text = text;
    if (this.#code && this.#appendCode(this.#code)) return;
    const { complete, open } = parseBlocks(text.slice(this.#start));
    const [last] = open;
    const isAlone = complete.length === 0 && open.length === 1;
    const parts = open.length === 1 && last && !isTooLong(last) ? partsOf(last) : undefined;
    if (isAlone && last && parts && this.#updateParts(last, parts)) return;
    this.#parts = parts;
    const changeable = nodesOf(open);
    this.#replaceOpen([...nodesOf(complete), ...changeable], changeable.length);
    for (const { raw } of complete) this.#start += raw.length;
    if (open.length === 1 && last) this.#code = this.#openCode(last);
    if (open.length === 1 && last && isTooLong(last)) this.#finish();
  }

  /** Shows nodes in the place of those that could still change. The last `openCount` of them still can. */
  #replaceOpen(fresh: readonly Node[], openCount: number): void {
    const shown = replaceNodes(this.#root, this.#open, fresh);
    this.#open = shown.slice(shown.length - openCount);
  }

  /** Renders the parts of the last block that changed; false if all did. */
  #updateParts(block: Block, parts: BlockParts): boolean {
    const same = this.#parts ? unchangedParts(this.#parts, parts) : 0;
    const shown = same > 0 && partNodes(this.#open);
    if (!shown) return false;
    const fresh = partNodes(nodesOf([withoutParts(block, same)]))?.nodes ?? [];
    // A part is an element and the line break after it.
    replaceNodes(shown.parent, shown.nodes.slice(2 * same), fresh);
    this.#parts = parts;
    return true;
  }

  /** What comes begins a new block. */
  #finish(): void {
    this.#start = this.#text.length;
    this.#open = [];
    this.#code = undefined;
    this.#parts = undefined;
  }

  /** The last block, if it is code that begins at the start of a line and has no end yet. */
  #openCode({ raw }: Block): OpenCode | undefined {
    const fence = /^(`{3,}|~{3,})[^\n]*\n/.exec(raw);
    const code = this.#open.find((node) => node instanceof HTMLElement)?.querySelector("code");
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
    this.#open = [];
    this.#code = undefined;
    this.#parts = undefined;
  }
}

/** Shows nodes in the place of the last ones of `parent`. Returns those that are now there. */
function replaceNodes(parent: Element, old: readonly Node[], fresh: readonly Node[]): Node[] {
  for (const node of old.slice(fresh.length)) node.parentNode?.removeChild(node);
  const shown = fresh.map((node, index) => {
    const before = old[index];
    return before ? morph(before, node) : node;
  });
  parent.append(...shown.slice(old.length));
  return shown;
}

/** Together: sanitizing takes as long for one block as for many. */
function nodesOf(blocks: readonly Block[]): Node[] {
  if (blocks.length === 0) return [];
  const html = blocks.map((block) => toHtml(isTooLong(block) ? plainBlock(block.raw) : block));
  const fragment = sanitize(html.join(""));
  decorate(fragment);
  return [...fragment.childNodes];
}

function isTooLong({ raw, tokens }: Block): boolean {
  return raw.length > maxBlockChars && tokens[0]?.type !== "code";
}
