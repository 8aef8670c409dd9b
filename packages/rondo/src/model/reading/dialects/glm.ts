// GLM's dialect: `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`.

import {
  type Cursor,
  isCutBefore,
  literal,
  literalAfterSpace,
  type Reading,
  skipSpace,
  until,
  untilWithinName,
} from "../cursor.ts";
import type { DialectTools, TextCall } from "./dialect.ts";
import { readName } from "./parts.ts";

/** The cursor is at the name. The caller reads the closing `</tool_call>`. */
export function* readGlmCall(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools);
  if (name === undefined) return undefined;
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const call = (isCut: boolean) => ({ name, arguments: JSON.stringify(values), isCut });
  for (let count = 0; ; count++) {
    if ((yield* literalAfterSpace(cursor, "<arg_key>")) === undefined) {
      // Without arguments, only the closing tag distinguishes a call from a word.
      return (yield* comesNext(cursor, "</tool_call>")) ? call(false) : count > 0 ? call(true) : undefined;
    }
    const key = yield* untilWithinName(cursor, "</arg_key>");
    if (!key) return undefined;
    if (key.stop === undefined) return call(true);
    yield* skipSpace(cursor);
    if ((yield* literal(cursor, "<arg_value>")) === undefined)
      return isCutBefore(cursor, "<arg_value>") ? call(true) : undefined;
    const value = yield* until(cursor, "</arg_value>");
    if (value.stop === undefined) return call(true);
    values[key.text.trim()] = value.text;
  }
}

function* comesNext(cursor: Cursor, text: string): Reading<boolean> {
  const start = cursor.offset;
  const isNext = (yield* literalAfterSpace(cursor, text)) !== undefined;
  cursor.rewind(start);
  return isNext;
}
