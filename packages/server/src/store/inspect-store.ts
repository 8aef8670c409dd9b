// Inspects a store from outside: creates and changes nothing, and does not disturb a server that has it open.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy, toStoreError } from "./sqlite/faults.ts";
import { checkVersion } from "./sqlite/schema.ts";
import type { Store } from "./store.ts";

/** The state of a store: one without a file (`custom`: made in code), or that of its file. */
export type StoreState =
  | { readonly state: "memory" | "none" | "custom" }
  | { readonly state: "missing" | "in_use" | "ready"; readonly path: string }
  | { readonly state: "unusable"; readonly path: string; readonly message: string };

/** Inspects the store of a config. Its path is relative to `cwd`. */
export function inspectStore(store: string | Store, cwd: string): StoreState {
  if (typeof store !== "string") return { state: "custom" };
  if (store === "memory" || store === "none") return { state: store };
  const path = resolve(cwd, store.replace(/^sqlite:/, ""));
  const unusable = (message: string): StoreState => ({ state: "unusable", path, message });
  if (!existsSync(path)) {
    const folder = nearestFolder(path);
    return mayWrite(folder)
      ? { state: "missing", path }
      : unusable(`It does not exist, and this user may not write to ${folder}.`);
  }
  if (!statSync(path).isFile()) return unusable(`${path} is not a file.`);
  if (!mayWrite(path) || !mayWrite(dirname(path)))
    return unusable(`This user may not write to ${path} and its folder.`);
  try {
    if (isLocked(`${path}-lock`)) return { state: "in_use", path };
    // Opening an empty one would delete its log.
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
