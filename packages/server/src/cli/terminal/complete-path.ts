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
  return (
    entries
      // Names are drawn: one with control characters could drive the terminal.
      .filter((entry) => entry.name.startsWith(name) && withoutControls(entry.name) === entry.name)
      .filter((entry) => !/[\n\t]/.test(entry.name) && (name.startsWith(".") || !entry.name.startsWith(".")))
      .slice(0, mostNames)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .toSorted()
  );
}
