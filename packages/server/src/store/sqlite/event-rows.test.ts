import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredEvent } from "../store.ts";
import { newResponse, write } from "../testing/build.ts";
import { sqliteFile } from "../testkit/sqlite-file.ts";
import { fromEventRow, maxEventsOfRow, toEventRows } from "./event-rows.ts";
import { sqliteStore } from "./sqlite-store.ts";

function numbered(texts: readonly string[], first = 0): StoredEvent[] {
  return texts.map((data, index) => ({ sequence: first + index, data }));
}

/** JSON, some of it with line breaks. */
const json = fc.oneof(
  fc.json(),
  fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 1)),
  fc.constant("{\n}"),
);

test("rows give back the events that were put into them", () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 200 }), fc.nat(1000), (texts, first) => {
      const events = numbered(texts, first);
      const rows = toEventRows(events);
      expect(rows.flatMap(fromEventRow)).toEqual(events);
      expect(Math.max(0, ...rows.map(({ count }) => count))).toBeLessThanOrEqual(maxEventsOfRow);
    }),
  );
});

test("large events do not share a row", () => {
  const large = JSON.stringify("x".repeat(150_000));
  const rows = toEventRows(numbered([large, large, "{}", "{}", large]));
  expect(rows.map(({ sequence, count }) => [sequence, count])).toEqual([
    [0, 1],
    [3, 3],
    [4, 1],
  ]);
});

test("any page of events is the same, however they were committed", async () => {
  const commits = fc.array(fc.integer({ min: 1, max: 3 * maxEventsOfRow }), { minLength: 1, maxLength: 5 });
  const page = fc.record({
    after: fc.integer({ min: -1, max: 300 }),
    limit: fc.integer({ min: 1, max: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(commits, fc.array(page, { maxLength: 20 }), async (sizes, pages) => {
      await using file = sqliteFile();
      const { store } = file;
      const lease = await store.create(newResponse("resp_1"), "worker-1", 30_000);
      const all: StoredEvent[] = [];
      for (const size of sizes) {
        const events = numbered(
          Array.from({ length: size }, (_, index) => (index % 50 === 9 ? "{\n}" : `{"n":${index}}`)),
          all.length,
        );
        await store.commit(lease, write({ events }));
        all.push(...events);
      }
      for (const { after, limit } of pages)
        expect(await store.events("ann", "resp_1", after, limit)).toEqual(
          all.slice(after + 1, after + 1 + limit),
        );
    }),
    { numRuns: 20 },
  );
});

test("events of a file from before they shared rows are read, and followed by others", async () => {
  await using file = sqliteFile();
  const lease = await file.store.create(newResponse("resp_1"), "worker-1", 30_000);
  for (const event of numbered(['{"a":0}', '{"a":1}']))
    await file.store.commit(lease, write({ events: [event] }));
  await file.store.close();
  using old = new DatabaseSync(file.path);
  old.exec(
    "ALTER TABLE events DROP COLUMN count; ALTER TABLE items DROP COLUMN count; PRAGMA user_version = 7",
  );
  old.close();
  const store = sqliteStore({ path: file.path });
  const [next] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 1 });
  if (next) await store.commit(next, write({ events: numbered(['{"a":2}', '{"a":3}'], 2) }));
  expect(next).toBeDefined();
  expect(await store.events("ann", "resp_1", 0, 2)).toEqual(numbered(['{"a":1}', '{"a":2}'], 1));
  expect(await store.events("ann", "resp_1", -1, 10)).toHaveLength(4);
  await store.close();
});
