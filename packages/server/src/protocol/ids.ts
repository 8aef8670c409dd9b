// Ids: a prefix that names the kind, and an unguessable part.

import { createHash, randomFillSync } from "node:crypto";

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

// Of `newItemId()`, or of an approval request.
const marked = /(?:_[0-9a-f]{32}|^mcpr_[\w-]{16})_([0-9a-f]{8})(?:\.|$)/;

/**
 * The mark of a round of a response. The ids of its items end in it, so that calls of one round and of successive ones
 * can be told apart in a history that a client sends again.
 */
export function roundMark(responseId: string, answer: number): string {
  return createHash("sha256").update(`${responseId} ${answer}`).digest("hex").slice(0, 8);
}

/** A new id for an item of a round. */
export function newItemId(prefix: IdPrefix, mark: string | undefined): string {
  return mark === undefined ? newId(prefix) : `${newId(prefix)}_${mark}`;
}

/** The mark in the id of an item; undefined for items of other servers and of older versions. */
export function markOf(id: unknown): string | undefined {
  return typeof id === "string" && id.length < 512 ? marked.exec(id)?.[1] : undefined;
}
