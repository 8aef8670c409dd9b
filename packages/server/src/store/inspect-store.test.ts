import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { inspectStore } from "./inspect-store.ts";
import { openStore } from "./open-store.ts";
import { memoryStore } from "./testkit/memory.ts";
import { tempFolder } from "./testkit/temp-folder.ts";

test("a missing store is reported and not created", () => {
  using folder = tempFolder();
  const path = join(folder.path, "deep", "rondo.db");
  expect(inspectStore("sqlite:./deep/rondo.db", folder.path)).toEqual({ state: "missing", path });
  expect(readdirSync(folder.path)).toEqual([]);
  for (const state of ["memory", "none"]) expect(inspectStore(state, folder.path)).toEqual({ state });
  expect(inspectStore(memoryStore(), folder.path)).toEqual({ state: "custom" });
});

test("a store that a server has open is in use, before and after it is ready", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const look = () => inspectStore("sqlite:rondo.db", folder.path);
  const store = await openStore(`sqlite:${path}`);
  expect(look()).toEqual({ state: "in_use", path });
  await store.check();
  await store.close();
  expect(look()).toEqual({ state: "ready", path });
  const again = await openStore(`sqlite:${path}`);
  expect(look()).toEqual({ state: "in_use", path });
  await again.close();
});

test.each<[string, (path: string) => void, string]>([
  ["a folder", (path) => mkdirSync(path), "is not a file"],
  ["another file", (path) => writeFileSync(path, "x".repeat(5000)), "not a SQLite database"],
  ["a newer store", (path) => execute(path, "PRAGMA user_version = 999"), "written by a newer server"],
  ["another program's", (path) => execute(path, "CREATE TABLE t (a)"), "belongs to another program"],
])("%s is unusable, with the reason", (_, make, reason) => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  make(path);
  expect(inspectStore(`sqlite:${path}`, "/")).toEqual({
    state: "unusable",
    path,
    message: expect.stringContaining(reason),
  });
});

function execute(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}
