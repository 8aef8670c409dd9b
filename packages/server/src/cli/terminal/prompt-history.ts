// The history of prompts, in a file: one JSON string per line, the newest last.

import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "../../config/overrides.ts";

const maxEntries = 1000;

/** The file of `rondo chat`'s history. */
export function historyFile(env: Environment): string {
  const state = env["XDG_STATE_HOME"];
  // The XDG standard says to ignore relative paths.
  const folder = state && isAbsolute(state) ? state : join(env["HOME"] || homedir(), ".local", "state");
  return join(folder, "rondo", "history");
}

/** The prompts of this and earlier chats; if the file is unusable, of this chat only. */
export class PromptHistory {
  readonly #file: string;
  #entries: string[];

  constructor(file: string) {
    this.#file = file;
    const all = readEntries(file);
    this.#entries = all.slice(-maxEntries);
    if (all.length > maxEntries) this.#rewrite();
  }

  /** Newest first, as `readline` expects. */
  get newestFirst(): string[] {
    return this.#entries.toReversed();
  }

  /** Adds a prompt, unless it begins with a space or repeats the last one. */
  add(prompt: string): void {
    if (prompt.trim() === "" || prompt.startsWith(" ") || this.#entries.at(-1) === prompt) return;
    this.#entries = [...this.#entries.slice(1 - maxEntries), prompt];
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, `${JSON.stringify(prompt)}\n`, { mode: 0o600 });
    } catch {
      // The history is optional.
    }
  }

  /** Truncates the file, atomically: another chat may read it. */
  #rewrite(): void {
    const text = this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const draft = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(draft, text, { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch {
      // The history is optional.
    }
  }
}

function readEntries(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === "string" ? [entry] : [];
    } catch {
      return []; // the end of the file, or a line that was cut off
    }
  });
}
