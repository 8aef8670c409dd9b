// Llama's bare JSON: an answer that is only `{"name": …, "parameters": …}`, or several of these.

import { skipSpace } from "../cursor.ts";
import type { Dialect, TextCall } from "./dialect.ts";
import { readJsonCall, readJsonCalls } from "./json-call.ts";

const options = { isBare: true };

export const bareJson: Dialect = {
  openers: ["{", "["],
  isWholeAnswer: true,
  *read(cursor, tools, opener) {
    cursor.rewind(0);
    const calls: TextCall[] = [];
    if (opener === "[") {
      const list = yield* readJsonCalls(cursor, tools, options);
      if (!list) return undefined;
      calls.push(...list);
    }
    for (;;) {
      const char = yield* skipSpace(cursor);
      if (char === undefined) return calls.length > 0 ? calls : undefined;
      if (char === "{") {
        const call = yield* readJsonCall(cursor, tools, options);
        if (!call) return undefined;
        calls.push(call);
      } else if (calls.length > 0 && (char === ";" || char === ",")) cursor.position++;
      else return undefined;
    }
  },
};
