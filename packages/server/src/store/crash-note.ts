// A note beside the database that says which run has ended the process. It is written in the last moment of a
// process, when the database may be out of reach, and read when the store is opened again.

import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";

/** Where the note of an open store is; undefined if the store keeps nothing. */
export function crashNotePath(url: unknown): string | undefined {
  const path = typeof url === "string" ? /^sqlite:(.+)$/s.exec(url)?.[1] : undefined;
  return path && noteBeside(realpathSync(path));
}

/** Where the note of the database at this real path is. */
export function noteBeside(path: string): string {
  return `${path}-crash`;
}

/** Writes down which response has ended the process. Never throws: there is nobody left to tell. */
export function writeCrashNote(path: string, responseId: string): void {
  try {
    writeFileSync(path, JSON.stringify({ responseId }), { mode: 0o600 });
  } catch {
    // Without it all runs that were at work are suspects.
  }
}

/** The response that has ended the last process, if that is known. */
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
