// What a process says before it ends: one line, written at once.

import { writeSync } from "node:fs";

const mostChars = 2000;

/** Never throws: a pipe that nobody reads must not keep the process from ending. */
export function lastLine(text: string): void {
  try {
    writeSync(2, `${text.slice(0, mostChars).replace(/\p{Cc}+/gu, " ")}\n`);
  } catch {
    // Nobody is there to read it.
  }
}
