// Knows which run the current code belongs to, through awaits and timers: to name the run that blocks or ends the
// process.

import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage<string>();
// Not a map: V8 keeps the tables that a map has outgrown until the next full garbage collection.
const working: Work[] = [];

interface Work {
  readonly responseId: string;
  /** Its index among those at work. */
  place: number;
}

/** Runs `work` as part of the run of this response. */
export async function inRun<T>(responseId: string, work: () => Promise<T>): Promise<T> {
  const own: Work = { responseId, place: working.length };
  working.push(own);
  try {
    return await current.run(responseId, work);
  } finally {
    // The last one takes its place.
    const last = working.pop();
    if (last && last !== own) {
      working[own.place] = last;
      last.place = own.place;
    }
  }
}

/** The response whose run the current code belongs to; undefined outside of runs. */
export function currentRun(): string | undefined {
  return current.getStore();
}

/** The responses that run in this process. */
export function runsAtWork(): readonly string[] {
  return [...new Set(working.map((it) => it.responseId))];
}
