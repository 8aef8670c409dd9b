// Ids of what the server makes: a prefix that says what it is, and a part that nobody can guess.

import { randomBytes } from "node:crypto";

export type IdPrefix =
  | "resp"
  | "msg"
  | "fc"
  | "ctc"
  | "rs"
  | "mcp"
  | "mcpl"
  | "mcpr"
  | "ci"
  | "conv"
  | "req"
  | "in"
  | "call"
  | "chatcmpl"
  | "cmp";

/** A new id, such as `resp_9f…`, that cannot be guessed. Those of calls are short: models have to read them. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBytes(prefix === "call" ? 12 : 24).toString("hex")}`;
}
