// Ids of what the server makes: a prefix that says what it is, and a part that nobody can guess.

import { randomFillSync } from "node:crypto";

/** The prefixes of the server's own ids; executors bring theirs. */
export type IdPrefix =
  | "resp"
  | "msg"
  | "rs"
  | "mcpr"
  | "conv"
  | "req"
  | "in"
  | "call"
  | "chatcmpl"
  | "cmp"
  | (string & {});

// To ask for random bytes costs ten times as much as to use them, so there is a store of them.
const store = Buffer.alloc(16 * 256);
let used = store.length;

/** A new id, such as `resp_9f…`: 128 random bits, so that it cannot be guessed. */
export function newId(prefix: IdPrefix): string {
  if (used === store.length) {
    randomFillSync(store);
    used = 0;
  }
  used += 16;
  return `${prefix}_${store.toString("hex", used - 16, used)}`;
}
