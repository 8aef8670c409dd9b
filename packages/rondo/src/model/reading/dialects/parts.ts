// What dialects are made of: a tool's name, calls in a row, a fence, a closing tag.

import { type Cursor, literal, literalAfterSpace, peek, type Reading, skipSpace } from "../cursor.ts";
import { type DialectTools, maxCalls, type TextCall } from "./dialect.ts";

/** The longest name of a tool, twice: for a namespace. */
const maxNameLength = 128;

/** Reads the name of an offered tool, and the text that must follow it. */
export function* readName(
  cursor: Cursor,
  tools: DialectTools,
  ...ends: readonly string[]
): Reading<string | undefined> {
  let text = "";
  for (;;) {
    const char = yield* peek(cursor);
    if (char === undefined) return undefined;
    // Letters, digits, `_` and `-`, and the separators of namespaces.
    if (!/[\w\-.:/]/.test(char)) break;
    text += char;
    cursor.position++;
    if (text.length > maxNameLength) return undefined;
  }
  if (ends.length > 0 && (yield* literal(cursor, ...ends)) === undefined) return undefined;
  return tools.match(text);
}

/**
 * Reads calls until the next one does not begin or cannot be read: those before it count, and the text goes on after
 * them. `begin` and `read` are apart because each generator around a long call costs time for each of its pieces.
 */
export function* readCallsInRow(
  cursor: Cursor,
  begin: () => Reading<boolean>,
  read: () => Reading<TextCall | undefined>,
  calls: TextCall[] = [],
): Reading<readonly TextCall[] | undefined> {
  while (calls.length < maxCalls && !calls.at(-1)?.isCut) {
    const end = cursor.offset;
    const call = (yield* begin()) ? yield* read() : undefined;
    if (call) calls.push(call);
    else {
      cursor.rewind(end);
      break;
    }
  }
  return calls.length > 0 ? calls : undefined;
}

/** Reads a Markdown fence that some models put around their JSON, and gives the next character. */
export function* skipFence(cursor: Cursor): Reading<string | undefined> {
  const char = yield* skipSpace(cursor);
  if (char !== "`") return char;
  yield* literal(cursor, "```json", "```");
  return yield* skipSpace(cursor);
}

/** Reads the closing tag if it comes, with a closing brace too many or a fence before it. */
export function* skipClose(cursor: Cursor, ...closes: readonly string[]): Reading<void> {
  const before = ["", "}", "}\n", "```\n", "```"];
  yield* literalAfterSpace(cursor, ...closes.flatMap((close) => before.map((text) => text + close)));
}
