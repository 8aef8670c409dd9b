// Writes the last line of a process, synchronously.

import { writeSync } from "node:fs";

const maxChars = 2000;

/** Never throws: a broken pipe must not keep the process from ending. */
export function lastLine(text: string): void {
  try {
    writeSync(2, `${text.slice(0, maxChars).replace(/\p{Cc}+/gu, " ")}\n`);
  } catch {
    // Nobody is there to read it.
  }
}
