// What the tests of agents look at: the values of a run.

import type { TurnValue } from "../index.ts";

/** Runs to the end, and gives the values without their turns. */
export async function valuesOf(run: AsyncIterable<TurnValue>): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const [, value] of run) values.push(value);
  return values;
}
