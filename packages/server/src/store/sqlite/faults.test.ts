import { expect, test } from "vitest";
import type { StoredEvent } from "../store.ts";
import { events, inputItem, message, newResponse, output, write } from "../testing/build.ts";
import { sqliteFile } from "../testkit/sqlite-file.ts";
import { sqliteStore } from "./sqlite-store.ts";

/** An event that fills many pages. */
function bigEvent(sequence: number): StoredEvent {
  return { sequence, data: JSON.stringify("x".repeat(1_000_000)) };
}

test("a full disk refuses all writes of the tick, loses nothing that was acknowledged, and can recover", async () => {
  await using file = sqliteFile();
  const { store, connection, path } = file;
  const lease = await store.create(newResponse("resp_1"), "worker-1", 30_000);
  const other = await store.create(newResponse("resp_2"), "worker-1", 30_000);
  await store.commit(lease, { events: events(0, 0), isDurable: true });
  connection.database.exec("PRAGMA max_page_count = 1");

  const results = await Promise.allSettled([
    store.commit(other, write({ events: events(0, 0) })),
    store.commit(lease, write({ events: [bigEvent(1)], output: [output(0, message("msg_1"))] })),
  ]);

  for (const result of results) {
    expect(result).toMatchObject({
      status: "rejected",
      reason: {
        code: "unavailable",
        message: expect.stringMatching(/^The disk is full\. Make room on it: \//),
      },
    });
  }
  expect(await store.events("ann", "resp_2", -1, 10)).toEqual([]);
  expect(await store.resume(lease)).toMatchObject({ lastSequence: 0, output: [] });

  connection.database.exec("PRAGMA max_page_count = 1000000");
  await store.commit(other, write({ events: events(0, 0) }));
  await store.commit(lease, write({ events: [bigEvent(1)] }));
  await store.close();
  const again = sqliteStore({ path });
  expect(await again.events("ann", "resp_1", -1, 10)).toEqual([...events(0, 0), bigEvent(1)]);
  expect(await again.events("ann", "resp_2", -1, 10)).toEqual(events(0, 0));
  await again.close();
});

test("a database that another program has locked refuses writes, can still be read, and recovers", async () => {
  await using file = sqliteFile();
  const { store, other } = file;
  const lease = await store.create(newResponse("resp_1"), "worker-1", 30_000);
  other.exec("BEGIN IMMEDIATE");

  await expect(store.commit(lease, write({ events: events(0, 0) }))).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("The database is locked by another program."),
  });
  await expect(store.check()).rejects.toMatchObject({ code: "unavailable" });
  expect(await store.get("ann", "resp_1")).toBeDefined();

  other.exec("ROLLBACK");
  await store.check();
  await store.commit(lease, write({ events: events(0, 0) }));
  expect(await store.events("ann", "resp_1", -1, 10)).toEqual(events(0, 0));
});

test("a database that cannot be written fails the check", async () => {
  await using file = sqliteFile();
  file.connection.database.exec("PRAGMA query_only = ON");

  await expect(file.store.check()).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("The database is read-only."),
  });
});

test("a failed read is a StoreError", async () => {
  await using file = sqliteFile();
  await file.store.create(newResponse("resp_1", { input: [inputItem("a")] }), "worker-1", 30_000);
  file.other.exec("DROP TABLE items");

  await expect(file.store.items("ann", ["a"])).rejects.toMatchObject({ code: "unavailable" });
});

test("a write that fails by itself is rolled back alone, and the others of its tick are committed", async () => {
  await using file = sqliteFile();
  const { store } = file;
  const lease = await store.create(newResponse("resp_1"), "worker-1", 30_000);
  const other = await store.create(newResponse("resp_2"), "worker-1", 30_000);
  const broken = [...events(0, 0), { sequence: 1, data: Symbol("no text") as unknown as string }];

  const results = await Promise.allSettled([
    store.commit(other, write({ events: events(0, 0) })),
    store.commit(other, write({ events: events(5, 5) })),
    store.commit(lease, write({ events: broken })),
    store.commit(other, write({ events: events(1, 1) })),
  ]);

  expect(results).toMatchObject([
    { status: "fulfilled" },
    { reason: { code: "out_of_order" } },
    { reason: expect.any(TypeError) },
    { status: "fulfilled" },
  ]);
  expect(await store.events("ann", "resp_1", -1, 10)).toEqual([]);
  expect(await store.events("ann", "resp_2", -1, 10)).toEqual(events(0, 1));
});
