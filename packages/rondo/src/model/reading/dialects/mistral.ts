// Mistral's dialect: `[TOOL_CALLS][{"name": …, "arguments": …}]`, and since 2025 `[TOOL_CALLS]name[ARGS]{…}`.

import { type Cursor, literal, type Reading, skipSpace, untilWithinName } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readJson, readJsonCall, readJsonCalls } from "./json-call.ts";
import { readName, skipClose } from "./parts.ts";

export const mistral: Dialect = {
  openers: ["[TOOL_CALLS]"],
  *read(cursor, tools) {
    const char = yield* skipSpace(cursor);
    const calls =
      char === "["
        ? yield* readJsonCalls(cursor, tools)
        : one(char === "{" ? yield* readJsonCall(cursor, tools) : yield* readNamed(cursor, tools));
    if (calls) yield* skipClose(cursor, "</s>");
    return calls;
  },
};

function* readNamed(cursor: Cursor, tools: DialectTools): Reading<TextCall | undefined> {
  const name = yield* readName(cursor, tools);
  if (name === undefined) return undefined;
  let mark = yield* literal(cursor, "[ARGS]", "[CALL_ID]");
  if (mark === "[CALL_ID]") {
    const id = yield* untilWithinName(cursor, "[ARGS]", "{", "\n");
    if (id?.stop === "{") cursor.position--;
    mark = id?.stop;
  }
  const char = yield* skipSpace(cursor);
  if (char === undefined && mark === "[ARGS]") return { name, arguments: "", isCut: true };
  if (char !== "{") return undefined;
  const json = yield* readJson(cursor);
  return json && { name, arguments: json.text, isCut: json.isCut };
}

function one(call: TextCall | undefined): readonly TextCall[] | undefined {
  return call && [call];
}
