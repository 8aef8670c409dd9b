// Calls in the middle of a sentence are examples: a model that calls a tool ends the line, or its answer, with the call.

import { type Cursor, literal, peek, type Reading } from "./cursor.ts";
import type { TextCall } from "./dialects/dialect.ts";

/** How much white space may be between a call and the rest of its sentence. */
const maxSpaces = 8;
/** What may follow a call on its line: a line break, or other markup. */
const markup = /[\s<>[\]{}]/;
/** Markup that shows code. */
const shows = ["</code>", "</pre>"];

/** Reads calls after words on the same line: undefined if words follow them too. */
export function* unlessInSentence(
  cursor: Cursor,
  reading: Reading<readonly TextCall[] | undefined>,
): Reading<readonly TextCall[] | undefined> {
  const calls = yield* reading;
  if (!calls) return undefined;
  const end = cursor.offset;
  let next = yield* peek(cursor);
  for (let count = 0; count < maxSpaces && (next === " " || next === "\t"); count++) {
    cursor.position++;
    next = yield* peek(cursor);
  }
  const isShown = (yield* literal(cursor, ...shows)) !== undefined;
  cursor.rewind(end);
  return !isShown && (next === undefined || markup.test(next)) ? calls : undefined;
}
