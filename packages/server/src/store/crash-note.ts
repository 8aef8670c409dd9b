// A note beside the database that names the run that ended the process. It is written in the last moment of the
// process, when the database may be out of reach, and read when the store is opened again.

import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { Store } from "./store.ts";

/** Where the note of an open store is; undefined if it has no file. */
export function crashNotePath(store: string | Store): string | undefined {
  const path = typeof store === "string" ? /^sqlite:(.+)$/s.exec(store)?.[1] : undefined;
  return path && noteBeside(realpathSync(path));
}

/** Where the note of the database at this real path is. */
export function noteBeside(path: string): string {
  return `${path}-crash`;
}

/** Names the response that ended the process. Never throws: nobody could handle it. */
export function writeCrashNote(path: string, responseId: string): void {
  try {
    writeFileSync(path, JSON.stringify({ responseId }), { mode: 0o600 });
  } catch {
    // Without it all runs that were at work are suspects.
  }
}

/** The response that ended the last process, if known. */
export function readCrashNote(path: string): string | undefined {
  try {
    const { responseId } = JSON.parse(readFileSync(path, "utf8")) as { responseId?: unknown };
    return typeof responseId === "string" ? responseId : undefined;
  } catch {
    return undefined;
  }
}

export function removeCrashNote(path: string): void {
  rmSync(path, { force: true });
}
