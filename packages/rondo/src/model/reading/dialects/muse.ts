// Muse writes its calls into a message whose recipient is the tool: `<|start|>assistant to=name<|message|>`, then tags.
// The same tags in a message to the user are an example.

import { literal, untilWithinName } from "../cursor.ts";
import type { Dialect } from "./dialect.ts";
import { atem } from "./function-tag.ts";

export const muse: Dialect = {
  openers: ["<|start|>assistant to=", "to="],
  *read(cursor, tools) {
    // A server may have stripped the token.
    const recipient = yield* untilWithinName(cursor, "<|message|>", "<atem:", "\n");
    if (recipient?.stop === "<atem:") cursor.position -= recipient.stop.length;
    const open = yield* literal(cursor, ...atem.openers);
    return open === undefined ? undefined : yield* atem.read(cursor, tools, open);
  },
};

/** Without the header, which some servers strip: then it must begin the answer. */
export const bareMuse: Dialect = { ...atem, isWholeAnswer: true };
