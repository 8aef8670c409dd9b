// Ids of what the server makes: a prefix that says what it is, and a part that nobody can guess.

import { randomBytes } from "node:crypto";

export type IdPrefix = "resp" | "msg" | "fc" | "rs" | "mcp" | "ci" | "conv" | "req" | "in" | "call";

/** A new id, such as `resp_9f…`: 24 random bytes, so that an id cannot be guessed. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(24).toString("hex")}`;
}
