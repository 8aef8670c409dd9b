import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { StoreError } from "../store-error.ts";
import { GroupWriter } from "./group-writer.ts";

let database: DatabaseSync;
let writer: GroupWriter;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  database.exec(`
    CREATE TABLE notes (text TEXT PRIMARY KEY);
    CREATE TABLE replies (note TEXT REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED)`);
  writer = new GroupWriter(database, "test.db");
});
afterEach(() => database.close());

const note = (text: string, isDurable = false) =>
  writer.write(() => database.prepare("INSERT INTO notes VALUES (?)").run(text), { isDurable });
const notes = () =>
  database
    .prepare("SELECT text FROM notes")
    .all()
    .map((row) => row["text"]);

/** All that is executed from now on. */
function executed(): string[] {
  const log: string[] = [];
  const exec = database.exec.bind(database);
  database.exec = (sql) => {
    log.push(sql);
    exec(sql);
  };
  return log;
}

test("the writes of one tick are one transaction, in their order", async () => {
  const log = executed();
  await Promise.all([note("a"), note("b"), note("c")]);
  await note("d");

  expect(log.filter((sql) => sql === "BEGIN IMMEDIATE")).toHaveLength(2);
  expect(notes()).toEqual(["a", "b", "c", "d"]);
});

test("the disk is flushed if any write of the tick asks for it, and only then", async () => {
  // 1 is NORMAL, 2 is FULL.
  const level = (isDurable: boolean) =>
    writer.write(() => database.prepare("PRAGMA synchronous").get()?.["synchronous"], { isDurable });

  expect(await level(false)).toBe(1);
  expect(await Promise.all([level(false), level(true)])).toEqual([2, 2]);
  expect(await level(false)).toBe(1);
});

test("no write is acknowledged when the commit fails", async () => {
  // Each statement is fine, and so it is only the commit that finds the note of this reply missing.
  const results = await Promise.allSettled([
    note("a"),
    writer.write(() => database.exec("INSERT INTO replies VALUES ('missing')"), { isDurable: false }),
  ]);

  expect(results).toMatchObject([{ reason: { code: "unavailable" } }, { reason: { code: "unavailable" } }]);
  expect(notes()).toEqual([]);
  await note("b");
  expect(notes()).toEqual(["b"]);
});

test("a refused write rejects for its caller alone, and the others are committed", async () => {
  const refused = writer.write(
    () => {
      throw new StoreError("lost_lease", "No.");
    },
    { isDurable: false },
  );
  const results = await Promise.allSettled([note("a"), refused, note("b")]);

  expect(results).toMatchObject([
    { status: "fulfilled" },
    { reason: { code: "lost_lease" } },
    { status: "fulfilled" },
  ]);
  expect(notes()).toEqual(["a", "b"]);
});

test("writes that may wait share a transaction with those of later ticks, and with one that does not wait", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const log = executed();
  const waiting = (text: string) =>
    writer.write(() => database.prepare("INSERT INTO notes VALUES (?)").run(text), {
      isDurable: false,
      mayWait: true,
    });
  const first = waiting("a");
  await new Promise((resolve) => setImmediate(resolve));
  expect(notes()).toEqual([]);
  const second = waiting("b");
  await note("c");
  await Promise.all([first, second]);
  expect(log.filter((sql) => sql === "BEGIN IMMEDIATE")).toHaveLength(1);
  const last = waiting("d");
  vi.runAllTimers();
  await last;
  expect(notes()).toEqual(["a", "b", "c", "d"]);
});

test("what waits is written when the store is closed", async () => {
  const write = writer.write(() => database.prepare("INSERT INTO notes VALUES ('a')").run(), {
    isDurable: false,
    mayWait: true,
  });
  writer.close();
  await write;
  expect(notes()).toEqual(["a"]);
});
