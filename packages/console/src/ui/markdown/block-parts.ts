// The items of a list and the rows of a table: while one grows, those that are complete are not rendered again.

import type { Token, Tokens } from "marked";
import type { Block } from "./parse-blocks.ts";

export interface BlockParts {
  /** What the looks of all parts depend on. */
  readonly frame: string;
  /** What each part is made from. */
  readonly sources: readonly string[];
}

/** The parts of a block; undefined if it is neither a list nor a table. */
export function partsOf({ tokens: [token] }: Block): BlockParts | undefined {
  if (isList(token)) {
    const { ordered, start, loose, items } = token;
    return { frame: `list ${ordered} ${start} ${loose}`, sources: items.map(({ raw }) => raw) };
  }
  if (!isTable(token)) return undefined;
  const textOf = (cells: readonly Tokens.TableCell[]) => JSON.stringify(cells.map(({ text }) => text));
  return { frame: `table ${textOf(token.header)} ${token.align.join()}`, sources: token.rows.map(textOf) };
}

/** How many parts, from the first on, are the same in both. */
export function unchangedParts(before: BlockParts, after: BlockParts): number {
  if (before.frame !== after.frame) return 0;
  const changed = before.sources.findIndex((source, index) => source !== after.sources[index]);
  return changed < 0 ? before.sources.length : changed;
}

/** The block without its first parts. */
export function withoutParts({ raw, tokens: [token, ...rest] }: Block, count: number): Block {
  if (isList(token)) return { raw, tokens: [{ ...token, items: token.items.slice(count) }, ...rest] };
  if (isTable(token)) return { raw, tokens: [{ ...token, rows: token.rows.slice(count) }, ...rest] };
  return { raw, tokens: token ? [token, ...rest] : rest };
}

/** The nodes of the parts, each with the white space after it, and the element that they are in. */
export function partNodes(shown: readonly Node[]): { parent: Element; nodes: readonly Node[] } | undefined {
  const block = shown.find((node) => node instanceof HTMLElement);
  const parent = block?.matches("ul, ol") ? block : block?.querySelector("tbody");
  if (!parent) return undefined;
  return { parent, nodes: [...parent.childNodes].slice(parent.firstChild instanceof Text ? 1 : 0) };
}

function isList(token: Token | undefined): token is Tokens.List {
  return token?.type === "list";
}

function isTable(token: Token | undefined): token is Tokens.Table {
  return token?.type === "table";
}
