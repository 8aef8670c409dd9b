// What was asked before, for the arrow keys: kept in a file, one JSON text a line, the newest last.

import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "../../config/overrides.ts";

const maxEntries = 1000;

/** Where the history of `rondo chat` is kept. */
export function historyFile(env: Environment): string {
  const state = env["XDG_STATE_HOME"];
  // The standard wants relative paths to be ignored.
  const folder = state && isAbsolute(state) ? state : join(env["HOME"] || homedir(), ".local", "state");
  return join(folder, "rondo", "history");
}

/** The prompts of this and of earlier chats. Where the file cannot be used, only those of this one. */
export class PromptHistory {
  readonly #file: string;
  #entries: string[];

  constructor(file: string) {
    this.#file = file;
    const all = readEntries(file);
    this.#entries = all.slice(-maxEntries);
    if (all.length > maxEntries) this.#rewrite();
  }

  /** The newest first, as input lines want them. */
  get newestFirst(): string[] {
    return this.#entries.toReversed();
  }

  /** Notes a prompt. One that begins with a space is private, and one that comes again is noted once. */
  add(prompt: string): void {
    if (prompt.trim() === "" || prompt.startsWith(" ") || this.#entries.at(-1) === prompt) return;
    this.#entries = [...this.#entries.slice(1 - maxEntries), prompt];
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      appendFileSync(this.#file, `${JSON.stringify(prompt)}\n`, { mode: 0o600 });
    } catch {
      // A chat without a memory is still a chat.
    }
  }

  /** Makes the file short again. In one step, because another chat may read it. */
  #rewrite(): void {
    const text = this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    const draft = `${this.#file}.${process.pid}`;
    try {
      writeFileSync(draft, text, { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch {
      // The same.
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
