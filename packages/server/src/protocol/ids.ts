// Ids: a prefix that names the kind, and an unguessable part.

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

// Each call for random bytes costs ten times as much as using them, so they are fetched in bulk.
const pool = Buffer.alloc(16 * 256);
let used = pool.length;

/** A new id, such as `resp_9f…`: 128 random bits, so that it cannot be guessed. */
export function newId(prefix: IdPrefix): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  return `${prefix}_${pool.toString("hex", used - 16, used)}`;
}
