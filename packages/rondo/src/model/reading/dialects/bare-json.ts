// Llama's bare JSON: an answer that is only `{"name": …, "parameters": …}`, or several of these.

import { type Cursor, type Reading, skipSpace } from "../cursor.ts";
import type { Dialect, DialectTools, TextCall } from "./dialect.ts";
import { readJsonCall, readJsonCalls } from "./json-call.ts";

const options = { isBare: true };

export const bareJson: Dialect = {
  openers: ["{", "["],
  isWholeAnswer: true,
  *read(cursor, tools) {
    cursor.rewind(0);
    const calls = yield* readBareCalls(cursor, tools);
    return (yield* skipSpace(cursor)) === undefined ? calls : undefined;
  },
};

/** Reads as many as come; the cursor is at the first. */
export function* readBareCalls(
  cursor: Cursor,
  tools: DialectTools,
): Reading<readonly TextCall[] | undefined> {
  const calls: TextCall[] = [];
  if ((yield* skipSpace(cursor)) === "[") {
    const list = yield* readJsonCalls(cursor, tools, options);
    if (!list) return undefined;
    calls.push(...list);
  }
  for (;;) {
    const char = yield* skipSpace(cursor);
    if (char === "{") {
      const call = yield* readJsonCall(cursor, tools, options);
      if (!call) return undefined;
      calls.push(call);
    } else if (calls.length > 0 && (char === ";" || char === ",")) cursor.position++;
    else return calls.length > 0 ? calls : undefined;
  }
}
