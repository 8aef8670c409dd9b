// Copies a broken write-ahead log before SQLite overwrites it, and words the warning.

import { copyFileSync } from "node:fs";
import { StoreError } from "../store-error.ts";
import type { WalState } from "./wal.ts";

/** Copies the log of the database at `path`. Returns the warning for the operator. */
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
      `The write-ahead log of the store ${path} is broken, and it could not be copied (${(error as Error).message}). Make room, or move the files away: starting would overwrite it.`,
      { cause: error },
    );
  }
  return `The write-ahead log of the store ${path} is broken: ${describeDamage(state)}. The server continues with what can be read. A copy of the log is kept as ${copy}; restore the database from a backup if something is missing. After a power cut, this may be data that had not reached the disk yet; otherwise check the disk.`;
}

export function describeDamage({ reason, commits, lost }: Extract<WalState, { state: "broken" }>): string {
  if (lost === undefined) return `${reason}; nothing of it can be read`;
  return `${reason}; ${commits} of its transactions can be read, ${lost} cannot`;
}
