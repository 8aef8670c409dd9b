// Reads the name of a tool out of markup, and gives up when no offered tool is meant.

import { type Cursor, literal, peek, type Reading } from "../cursor.ts";
import type { OfferedTools } from "./dialect.ts";

/** The longest name of a tool, twice: for a namespace. */
const maxLength = 128;

/** Reads a name and the text that must follow it. */
export function* readName(
  cursor: Cursor,
  tools: OfferedTools,
  ...ends: readonly string[]
): Reading<string | undefined> {
  let text = "";
  for (;;) {
    const char = yield* peek(cursor);
    if (char === undefined) return undefined;
    if (!isNameChar(char)) break;
    text += char;
    cursor.position++;
    if (text.length > maxLength) return undefined;
  }
  if (ends.length > 0 && (yield* literal(cursor, ...ends)) === undefined) return undefined;
  return tools.match(text);
}

/** Letters, digits, `_` and `-`, and what namespaces are written with. */
function isNameChar(char: string): boolean {
  return /[\w\-.:/]/.test(char);
}
