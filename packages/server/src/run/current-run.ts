// Knows which run the current code belongs to, through awaits and timers: to name the run that blocks or ends the
// process.

import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage<string>();
const working = new Map<string, number>();

/** Runs `work` as part of the run of this response. */
export async function inRun<T>(responseId: string, work: () => Promise<T>): Promise<T> {
  working.set(responseId, (working.get(responseId) ?? 0) + 1);
  try {
    return await current.run(responseId, work);
  } finally {
    const left = (working.get(responseId) ?? 1) - 1;
    if (left > 0) working.set(responseId, left);
    else working.delete(responseId);
  }
}

/** The response whose run the current code belongs to; undefined outside of runs. */
export function currentRun(): string | undefined {
  return current.getStore();
}

/** The responses that run in this process. */
export function runsAtWork(): readonly string[] {
  return [...working.keys()];
}
