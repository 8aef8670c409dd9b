// Looks at a store from outside: makes nothing, changes nothing, and leaves a server that has it open alone.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy, toStoreError } from "./sqlite/faults.ts";
import { checkVersion } from "./sqlite/schema.ts";

/**
 * What a store is like: kept in memory, not there yet, open in another process, ready to be opened, or not usable
 * for the reason that `message` tells.
 */
export type StoreState =
  | { readonly state: "memory" }
  | { readonly state: "missing" | "in_use" | "ready"; readonly path: string }
  | { readonly state: "unusable"; readonly path: string; readonly message: string };

/** Looks at the store that a config names, with its path seen from `cwd`. */
export function inspectStore(url: string, cwd: string): StoreState {
  if (url === "memory") return { state: "memory" };
  const path = resolve(cwd, url.replace(/^sqlite:/, ""));
  const unusable = (message: string): StoreState => ({ state: "unusable", path, message });
  if (!existsSync(path)) {
    const folder = nearestFolder(path);
    return mayWrite(folder)
      ? { state: "missing", path }
      : unusable(`It is not there, and this user may not write to ${folder}.`);
  }
  if (!statSync(path).isFile()) return unusable(`${path} is not a file.`);
  if (!mayWrite(path) || !mayWrite(dirname(path)))
    return unusable(`This user may not write to ${path} and its folder.`);
  try {
    if (isLocked(`${path}-lock`)) return { state: "in_use", path };
    // An empty one would be opened at the cost of its log, which SQLite deletes.
    if (statSync(path).size > 0) withDatabase(path, (database) => checkVersion(database, path));
    return { state: "ready", path };
  } catch (error) {
    return unusable((toStoreError(error, path) as Error).message);
  }
}

/** A server holds its lock for as long as it lives, so that not even reading gets through. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    withDatabase(path, (database) => database.prepare("SELECT 1 FROM sqlite_schema").get());
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  }
}

function withDatabase(path: string, use: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    use(database);
  } finally {
    database.close();
  }
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  return existsSync(folder) || folder === path ? folder : nearestFolder(folder);
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
