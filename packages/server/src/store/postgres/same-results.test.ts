// Whatever is done to it, PostgreSQL does the same as the reference store.

import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryStore } from "../testkit/memory.ts";
import { allOf, allWrites, runTogether, type Subject, ticks } from "../testkit/operations.ts";
import { sharedMs } from "./event-pages.ts";
import { postgresStore } from "./open.ts";
import { emptyTables } from "./testkit/empty-tables.ts";
import { testDatabase } from "./testkit/test-database.ts";

test("PostgreSQL and the reference store give the same results for the same calls", {
  timeout: 60_000,
}, async () => {
  const url = await testDatabase();
  let nowMs = 0;
  const now = () => nowMs;
  const store = await postgresStore({ url, now });
  try {
    await fc.assert(
      fc.asyncProperty(ticks(allWrites(["ann", "bob"])), async (steps) => {
        nowMs = 0;
        await emptyTables(url);
        await sleep(sharedMs); // responses of the same names were read before: their pages must be gone
        const memory: Subject = { store: memoryStore({ now }), leases: [] };
        const postgres: Subject = { store, leases: [] };
        for (const { afterMs, operations } of steps) {
          nowMs += afterMs;
          expect(await runTogether(postgres, operations)).toEqual(await runTogether(memory, operations));
        }
        for (const owner of ["ann", "bob"])
          expect(await allOf(postgres, owner)).toEqual(await allOf(memory, owner));
        expect(await store.queue.count()).toEqual(await memory.store.queue.count());
      }),
      { numRuns: 25 },
    );
  } finally {
    await store.close();
  }
});
