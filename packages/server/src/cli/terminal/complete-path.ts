// Completes the path of a file.

import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { withoutControls } from "./text.ts";

const mostNames = 200;

/** The paths that a beginning may mean, folders with a slash behind them. Hidden ones only if asked for. */
export async function completePath(begun: string, cwd: string): Promise<string[]> {
  const slash = begun.lastIndexOf("/") + 1;
  const [folder, name] = [begun.slice(0, slash), begun.slice(slash)];
  const place = folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : resolve(cwd, folder || ".");
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.name.startsWith(name) && isDrawable(entry.name))
    .filter((entry) => name.startsWith(".") || !entry.name.startsWith("."))
    .slice(0, mostNames)
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .toSorted();
}

/** Whether a name may be drawn: one with control characters could drive the terminal. */
export function isDrawable(name: string): boolean {
  return withoutControls(name) === name && !/[\n\t]/.test(name);
}
