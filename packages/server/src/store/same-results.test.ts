// Whatever is done to them, the stores do the same, and no owner notices another.

import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sqliteStore } from "./sqlite/sqlite-store.ts";
import { memoryStore } from "./testkit/memory.ts";
import { allOf, allWrites, runTogether, type Subject, ticks, writesOf } from "./testkit/operations.ts";
import { tempFolder } from "./testkit/temp-folder.ts";

/** Gives a new store of each kind to `use`, and closes them. */
async function withStores(
  now: () => number,
  use: (memory: Subject, sqlite: Subject) => Promise<void>,
): Promise<void> {
  using folder = tempFolder();
  const memory = { store: memoryStore({ now }), leases: [] };
  const sqlite = { store: sqliteStore({ path: join(folder.path, "rondo.db"), now }), leases: [] };
  try {
    await use(memory, sqlite);
  } finally {
    await memory.store.close();
    await sqlite.store.close();
  }
}

test("SQLite and the reference store give the same results for the same calls", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(ticks(allWrites(["ann", "bob"])), async (steps) => {
      let nowMs = 0;
      await withStores(
        () => nowMs,
        async (memory, sqlite) => {
          for (const { afterMs, operations } of steps) {
            nowMs += afterMs;
            expect(await runTogether(sqlite, operations)).toEqual(await runTogether(memory, operations));
          }
          for (const owner of ["ann", "bob"]) {
            expect(await allOf(sqlite, owner)).toEqual(await allOf(memory, owner));
          }
          expect(await sqlite.store.queue.count()).toEqual(await memory.store.queue.count());
        },
      );
    }),
    { numRuns: 60 },
  );
});

test("an owner sees the same with and without other owners", { timeout: 60_000 }, async () => {
  const either = fc.oneof(writesOf("ann"), writesOf("bob"));
  await fc.assert(
    fc.asyncProperty(ticks(either), async (steps) => {
      const now = () => 0;
      await withStores(now, async (crowded, sqlite) => {
        const alone: Subject = { store: memoryStore({ now }), leases: [] };
        // Each with a list of leases for the others, who use the same store.
        const crowds = [crowded, sqlite].map((subject) => ({ subject, bob: { ...subject, leases: [] } }));
        for (const { operations } of steps) {
          const own = operations.filter(({ owner }) => owner === "ann");
          const others = operations.filter(({ owner }) => owner === "bob");
          const expected = await runTogether(alone, own);
          for (const { subject, bob } of crowds) {
            await runTogether(bob, others);
            expect(await runTogether(subject, own)).toEqual(expected);
          }
        }
        const expected = await allOf(alone, "ann");
        expect(await allOf(crowded, "ann")).toEqual(expected);
        expect(await allOf(sqlite, "ann")).toEqual(expected);
      });
    }),
    { numRuns: 40 },
  );
});
