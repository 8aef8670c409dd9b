// Ids of what the server makes: a prefix that says what it is, and a part that nobody can guess.

import { randomUUID } from "node:crypto";

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

/** A new id, such as `resp_9f…`: 122 random bits, so that it cannot be guessed. */
export function newId(prefix: IdPrefix): string {
  // Node makes UUIDs from a store of random bytes, which costs a tenth of asking for bytes each time.
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}
