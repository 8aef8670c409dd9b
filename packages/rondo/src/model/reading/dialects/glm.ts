// GLM's dialect: `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`. Hunyuan writes
// `<tool_sep>` after the name.

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
import { type DialectTools, doubtfulCall, type TextCall } from "./dialect.ts";
import { readName } from "./parts.ts";

/** The cursor is at the name. The caller reads the closing `</tool_call>`. */
export function* readGlmCall(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools);
  if (name === undefined) return undefined;
  yield* literalAfterSpace(cursor, "<tool_sep>");
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  let doubt: string | undefined;
  const call = (isCut: boolean) =>
    doubt === undefined ? { name, arguments: JSON.stringify(values), isCut } : doubtfulCall(name, doubt);
  for (let count = 0; ; count++) {
    if ((yield* literalAfterSpace(cursor, "<arg_key>")) === undefined) {
      // Without arguments, only the closing tag distinguishes a call from a word.
      return (yield* comesNext(cursor, "</tool_call>")) ? call(false) : count > 0 ? call(true) : undefined;
    }
    const key = yield* untilWithinName(cursor, "</arg_key>");
    if (!key) return undefined;
    if (key.stop === undefined) return call(true);
    const next = yield* skipSpace(cursor);
    if ((yield* literal(cursor, "<arg_value>")) === undefined) {
      if (isCutBefore(cursor, "<arg_value>")) return call(true);
      if (next !== "<") return undefined;
      doubt = "an <arg_key> without an <arg_value>";
      continue;
    }
    const value = yield* until(cursor, "</arg_value>", "<arg_key>", "</tool_call>");
    if (value.stop === undefined) return call(true);
    // Where the value ends is unknown: it may contain the tag, or its own closing tag was forgotten.
    if (value.stop !== "</arg_value>") {
      doubt = `an <arg_value> that no </arg_value> closes before ${value.stop}`;
      cursor.position -= value.stop.length;
    }
    const label = key.text.trim();
    if (values[label] !== undefined && values[label] !== value.text) doubt = "an <arg_key> occurs twice";
    values[label] = value.text;
  }
}

function* comesNext(cursor: Cursor, text: string): Reading<boolean> {
  const start = cursor.offset;
  const isNext = (yield* literalAfterSpace(cursor, text)) !== undefined;
  cursor.rewind(start);
  return isNext;
}
