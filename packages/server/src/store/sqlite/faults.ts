// Errors of SQLite, with advice.

import { StoreError, type StoreFault } from "../store-error.ts";

/** An error as `node:sqlite` throws it. The low byte of `errcode` is SQLite's primary result code. */
interface SqliteError extends Error {
  readonly errcode: number;
}

const busy = 5;

/** Of a unique column, and of a primary key. */
const takenCodes = [2067, 1555, 2579];

// Only errors of the whole database. Others, such as a violated constraint, concern one statement.
const advice: Readonly<Record<number, string>> = {
  2: "SQLite is out of order",
  3: "Access to the database was denied. Give the server the right to read and write the file and its folder",
  [busy]: "The database is locked by another program. Close what has it open for writing",
  6: "The database is locked. Close what has it open for writing",
  7: "There is not enough memory for the database",
  8: "The database is read-only. Give the server the right to write the file and its folder",
  9: "The database was interrupted",
  10: "The disk reports an error. Check the disk and the file system",
  11: "The database is damaged. Put it back from a copy, or move it away to start with an empty one",
  13: "The disk is full. Make room on it",
  14: "The database cannot be opened. Check that its path can be read and written",
  15: "The database cannot be locked. Use a local disk",
  26: "The file is not a SQLite database. Name another file, or move this one away",
};

const faultOf: Readonly<Record<number, StoreFault>> = { 3: "denied", 8: "read_only", 13: "full" };

/** Whether the whole database fails, and not only one statement. */
export function isFault(error: unknown): error is SqliteError {
  return isSqliteError(error) && (error.errcode & 0xff) in advice;
}

/** Whether the database is locked by another connection. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === busy;
}

/** Whether a row would have what only one may have. */
export function isTaken(error: unknown): boolean {
  return isSqliteError(error) && takenCodes.includes(error.errcode);
}

/** Turns an error of SQLite into a `StoreError` that names the file. Returns other errors as they are. */
export function toStoreError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error;
  const reason = advice[error.errcode & 0xff] ?? "The database has refused a statement";
  return new StoreError("unavailable", `${reason}: ${path} (SQLite says: ${error.message}).`, {
    cause: error,
    fault: faultOf[error.errcode & 0xff],
  });
}

function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}
