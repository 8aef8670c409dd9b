// What the two threads of the watchdog share.

import { writeSync } from "node:fs";

/** Incremented while the event loop turns. */
export const beatPlace = 0;
/** 1 while a debugger can be attached. */
export const debuggedPlace = 1;
/** How many bytes of `names` are in use. */
export const namesPlace = 2;

/** The global symbol of `currentRun()`. */
export const witnessName = "rondo.watchdog";

export interface WatchdogData {
  readonly shared: Int32Array;
  /** The ids of the responses that ran at the last heartbeat, with spaces between them. */
  readonly names: Uint8Array;
  readonly tickMs: number;
  readonly blockedMs: number;
  readonly notePath: string | undefined;
}

const maxChars = 2000;

/** Writes the last line of a process, synchronously. Never throws: a broken pipe must not keep the process from ending. */
export function lastLine(text: string): void {
  try {
    writeSync(2, `${text.slice(0, maxChars).replace(/\p{Cc}+/gu, " ")}\n`);
  } catch {
    // Nobody is there to read it.
  }
}
