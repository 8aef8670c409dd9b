// What is done about a broken log when a store is opened: it is said, and a copy is kept. SQLite will overwrite it.

import { copyFileSync } from "node:fs";
import { StoreError } from "../store-error.ts";
import type { WalState } from "./wal.ts";

/** Keeps a copy of the log of the database at `path` beside it, and gives the words for the operator. */
export function keepBrokenWal(
  path: string,
  state: Extract<WalState, { state: "broken" }>,
  nowMs: number,
): string {
  const copy = `${path}-wal-broken-${new Date(nowMs).toISOString().replace(/[:.]/g, "-")}`;
  try {
    copyFileSync(`${path}-wal`, copy);
  } catch (error) {
    throw new StoreError(
      "unavailable",
      `The write-ahead log of the store ${path} is broken, and no copy of it could be made (${(error as Error).message}). Make room, or move the files away by hand: the start would overwrite it.`,
      { cause: error },
    );
  }
  return `The write-ahead log of the store ${path} is broken: ${describeDamage(state)}. The server goes on with what can be read. A copy of the log is kept as ${copy}; put the database back from a backup if something is missing. After a power cut this may be what had not reached the disk yet; otherwise check the disk.`;
}

export function describeDamage({ reason, commits, lost }: Extract<WalState, { state: "broken" }>): string {
  if (lost === undefined) return `${reason}; nothing of it can be read`;
  return `${reason}; ${commits} of its transactions can be read, ${lost} cannot`;
}
