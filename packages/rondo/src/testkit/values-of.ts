// The values of a run, for tests of agents.

import type { TurnValue } from "../index.ts";

/** Runs to the end, and returns the values without their turns. */
export async function valuesOf(run: AsyncIterable<TurnValue>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const [, value] of run) values.push(value);
  return values;
}
