// Locks a database for one server, while other programs can still read it. The lock is an open transaction on a file
// beside it: the system ends it with the process, however that ends.

import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../store-error.ts";
import { isBusy, toStoreError } from "./faults.ts";

/** Takes the lock of the database at `path`, or throws a `StoreError` (`in_use`). Returns the function that releases it. */
export function lockForProcess(path: string): () => void {
  const file = `${path}-lock`;
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) throw toStoreError(error, file);
    throw new StoreError(
      "in_use",
      `The store ${path} is open in another server. Stop that one first, or give this one a store of its own.`,
      { cause: error },
    );
  }
  const held = lock;
  return () => held.close();
}
