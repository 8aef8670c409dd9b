// Checks the file of a store: its integrity, its log, its version. Changes nothing.

import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { inspectStore } from "./inspect-store.ts";
import { describeDamage } from "./sqlite/broken-wal.ts";
import { toStoreError } from "./sqlite/faults.ts";
import { checkVersion, newestVersion } from "./sqlite/schema.ts";
import { inspectWal } from "./sqlite/wal.ts";
import type { Store } from "./store.ts";

export interface StoreFinding {
  readonly check: "file" | "wal" | "version" | "integrity" | "references";
  readonly isGood: boolean;
  /** What was found, as one word for programs. */
  readonly code: string;
  readonly message: string;
}

/** How many faults of a kind are reported. */
const maxFaults = 5;

/** Checks the file of a config's store. Its path is relative to `cwd`. */
export function checkStoreFile(store: string | Store, cwd: string): StoreFinding[] {
  const found = inspectStore(store, cwd);
  if (!("path" in found)) return [good("file", found.state, "the store has no file to check")];
  const { path } = found;
  if (found.state === "missing") return [bad("file", "missing", `${path} does not exist`)];
  if (found.state === "unusable") return [bad("file", "unusable", found.message)];
  const isInUse = found.state === "in_use";
  const file = good(
    "file",
    found.state,
    isInUse ? `${path} is in use by a running server` : `${path} exists`,
  );
  // The end of the log changes while a server writes to it.
  const log = isInUse
    ? good("wal", "in_use", "the write-ahead log is in use, and was not checked")
    : walFinding(path);
  return [file, log, ...databaseFindings(path)];
}

function walFinding(path: string): StoreFinding {
  const wal = inspectWal(path);
  if (wal.state === "broken")
    return bad("wal", "broken_wal", `the write-ahead log is broken: ${describeDamage(wal)}`);
  const part = wal.isPartial ? ", as far as it was checked" : "";
  return good("wal", "ok", `the write-ahead log is complete (${wal.commits} transactions)${part}`);
}

function databaseFindings(path: string): StoreFinding[] {
  // Not opened: SQLite would delete its log.
  if (statSync(path).size === 0)
    return [good("integrity", "empty", "it is empty; the next start creates its tables")];
  const database = new DatabaseSync(path, { readOnly: true, timeout: 1000 });
  try {
    const version = checkVersion(database, path);
    const age = version < newestVersion ? `, and are migrated to ${newestVersion} at the next start` : "";
    const faults = rows(database, `PRAGMA integrity_check(${maxFaults})`)
      .map((row) => String(row["integrity_check"]))
      .filter((line) => line !== "ok");
    const lost = rows(database, "PRAGMA foreign_key_check").length;
    return [
      good("version", "ok", `its tables have version ${version}${age}`),
      faults.length === 0
        ? good("integrity", "ok", "its pages, rows and indexes are intact")
        : bad("integrity", "damaged", `it is damaged: ${faults.join("; ").slice(0, 1000)}`),
      lost === 0
        ? good("references", "ok", "its references are intact")
        : bad("references", "lost_rows", `${lost} rows refer to missing rows`),
    ];
  } catch (error) {
    return [bad("integrity", "damaged", (toStoreError(error, path) as Error).message)];
  } finally {
    database.close();
  }
}

function rows(database: DatabaseSync, sql: string): Record<string, unknown>[] {
  return database.prepare(sql).all();
}

function good(check: StoreFinding["check"], code: string, message: string): StoreFinding {
  return { check, isGood: true, code, message };
}

function bad(check: StoreFinding["check"], code: string, message: string): StoreFinding {
  return { check, isGood: false, code, message };
}
