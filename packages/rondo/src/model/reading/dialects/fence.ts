// JSON calls in a Markdown fence that is the whole answer. With words around it, a fence is an example.

import { literal, literalAfterSpace, skipSpace } from "../cursor.ts";
import { readBareCalls } from "./bare-json.ts";
import type { Dialect } from "./dialect.ts";

export const fencedJson: Dialect = {
  openers: ["```"],
  isWholeAnswer: true,
  *read(cursor, tools) {
    yield* literal(cursor, "json", "tool_call", "tool_calls");
    const first = yield* skipSpace(cursor);
    if (first !== "{" && first !== "[") return undefined;
    const calls = yield* readBareCalls(cursor, tools);
    if (!calls) return undefined;
    const isClosed = (yield* literalAfterSpace(cursor, "```")) !== undefined;
    if ((yield* skipSpace(cursor)) !== undefined) return undefined;
    return isClosed || calls.at(-1)?.isCut ? calls : undefined;
  },
};
