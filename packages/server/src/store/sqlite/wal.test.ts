// A log that SQLite would silently cut off is noticed; what a crash leaves behind is not taken for damage.

import { copyFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checkStoreFile } from "../check-store.ts";
import { openStore } from "../open-store.ts";
import { newResponse } from "../testing/build.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { inspectWal } from "./wal.ts";

const frameBytes = 4096 + 24;
const frameAt = (index: number) => 32 + index * frameBytes;

/** A store as a process leaves it that is killed: `count` responses in the log, and nothing of them in the database. */
async function killedStore(folder: string, count = 6): Promise<string> {
  const path = join(folder, "rondo.db");
  const killed = join(folder, "killed.db");
  await (await openStore(`sqlite:${path}`)).close();
  const store = await openStore(`sqlite:${path}`);
  for (let n = 0; n < count; n += 1) await store.create(newResponse(`resp_${n}`), "worker", 30_000);
  for (const end of ["", "-wal"]) copyFileSync(path + end, killed + end);
  await store.close();
  return killed;
}

/** Changes a byte of the log. */
function damage(path: string, place: number): void {
  const bytes = readFileSync(`${path}-wal`);
  bytes[place] = (bytes[place] ?? 0) ^ 0x10;
  writeFileSync(`${path}-wal`, bytes);
}

async function open(path: string) {
  const warnings: string[] = [];
  const store = await openStore(`sqlite:${path}`, { onWarning: (message) => warnings.push(message) });
  return { warnings, store };
}

describe("a log", () => {
  test("beside an empty database, which SQLite would delete, is broken, and kept", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    const log = readFileSync(`${path}-wal`);
    truncateSync(path, 0);
    expect(inspectWal(path)).toMatchObject({
      state: "broken",
      commits: 0,
      reason: "the database beside it is empty",
    });
    const findings = checkStoreFile(`sqlite:${path}`, folder.path);
    expect(findings).toMatchObject([{ check: "file" }, { code: "broken_wal" }, { code: "empty" }]);
    expect(readFileSync(`${path}-wal`)).toEqual(log);

    const { store, warnings } = await open(path);
    expect(warnings).toEqual([expect.stringContaining("the database beside it is empty")]);
    const copies = readdirSync(folder.path).filter((name) => name.startsWith("killed.db-wal-broken-"));
    expect(readFileSync(join(folder.path, copies[0] ?? ""))).toEqual(log);
    await store.close();
  });

  test("whose header was filled with zeros is broken, and one of nothing but zeros is not", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    const log = readFileSync(`${path}-wal`);
    writeFileSync(`${path}-wal`, log.fill(0, 0, 5000));
    expect(inspectWal(path)).toMatchObject({ state: "broken", reason: "its header is damaged" });
    writeFileSync(`${path}-wal`, log.fill(0));
    expect(inspectWal(path).state).toBe("whole");
  });

  test("of a killed process is complete, and so is a missing one", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    const { commits, ...rest } = inspectWal(path) as { commits: number };
    expect(rest).toEqual({ state: "whole", isPartial: false });
    expect(commits).toBeGreaterThanOrEqual(6);
    expect(inspectWal(join(folder.path, "nothing"))).toEqual({
      state: "whole",
      commits: 0,
      isPartial: false,
    });
    const { store, warnings } = await open(path);
    expect((await store.list("ann", { limit: 100, order: "asc" })).data).toHaveLength(6);
    expect(warnings).toEqual([]);
    await store.close();
  });

  test.each([
    ["in a page", frameAt(3) + 24 + 100],
    ["in the checksum of a frame", frameAt(3) + 16],
    ["in the salt of a frame", frameAt(3) + 8],
    ["in the header", 20],
    ["in the first byte", 0],
  ])("with a damage %s is told, a copy is kept, and the server starts", async (_, place) => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    damage(path, place);
    const broken = readFileSync(`${path}-wal`);
    expect(inspectWal(path).state).toBe("broken");

    const { store, warnings } = await open(path);
    const { data } = await store.list("ann", { limit: 100, order: "asc" });
    expect(data.length).toBeLessThan(6); // SQLite has said nothing of this
    expect(warnings).toEqual([expect.stringMatching(/log of the store \S+killed\.db is broken: .*backup/)]);
    const copies = readdirSync(folder.path).filter((name) => name.startsWith("killed.db-wal-broken-"));
    expect(copies).toHaveLength(1);
    expect(readFileSync(join(folder.path, copies[0] ?? ""))).toEqual(broken);
    await store.check();
    // What it wrote then is not taken for damage after another crash.
    const again = join(folder.path, "again.db");
    for (const end of ["", "-wal"]) copyFileSync(path + end, again + end);
    expect(inspectWal(again).state).toBe("whole");
    await store.close();
  });

  test("whose last transaction was truncated anywhere is complete", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path, 2);
    const all = readFileSync(`${path}-wal`);
    const before = inspectWal(path) as { commits: number };
    for (let length = all.length - 1; length > frameAt(1); length -= 997) {
      truncateSync(`${path}-wal`, length);
      expect(inspectWal(path)).toMatchObject({ state: "whole" });
    }
    expect((inspectWal(path) as { commits: number }).commits).toBeLessThan(before.commits);
    // The end of the file may have been made longer before anything was written there.
    writeFileSync(`${path}-wal`, Buffer.concat([all, Buffer.alloc(3 * frameBytes)]));
    expect(inspectWal(path)).toEqual({ ...before });
    writeFileSync(`${path}-wal`, Buffer.alloc(3 * frameBytes));
    expect(inspectWal(path)).toMatchObject({ state: "whole", commits: 0 });
  });

  test("that was restarted over an older one is complete", () => {
    using folder = tempFolder();
    const path = join(folder.path, "a.db");
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a)");
    for (let n = 0; n < 20; n += 1) database.exec(`INSERT INTO t VALUES (randomblob(3000))`);
    database.exec("PRAGMA wal_checkpoint(RESTART); INSERT INTO t VALUES (1)");
    const wal = inspectWal(path);
    database.close();
    expect(wal).toMatchObject({ state: "whole", commits: 1 });
  });

  test("is read up to a limit", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path, 100);
    expect(inspectWal(path, 1000)).toMatchObject({ state: "whole", isPartial: true });
  });
});

describe("a check of the file", () => {
  const codes = (path: string) =>
    checkStoreFile(`sqlite:${path}`, "/").map(({ check, code }) => `${check} ${code}`);

  test("finds no fault in an intact one, also in use, and changes nothing", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    const wal = readFileSync(`${path}-wal`);
    const fine = ["version ok", "integrity ok", "references ok"];
    expect(codes(path)).toEqual(["file ready", "wal ok", ...fine]);
    expect(readFileSync(`${path}-wal`)).toEqual(wal);
    const { store } = await open(path);
    expect(codes(path)).toEqual(["file in_use", "wal in_use", ...fine]);
    await store.close();
  });

  test("finds a broken log, a damaged page, and rows that refer to missing ones", async () => {
    using folder = tempFolder();
    const path = await killedStore(folder.path);
    damage(path, frameAt(3) + 200);
    expect(codes(path)).toContain("wal broken_wal");

    const orphaned = new DatabaseSync(join(folder.path, "rondo.db"));
    orphaned.exec("PRAGMA foreign_keys = OFF; DELETE FROM responses WHERE id = 'resp_1'");
    orphaned.close();
    expect(codes(join(folder.path, "rondo.db"))).toContain("references lost_rows");

    const file = join(folder.path, "rondo.db");
    const bytes = readFileSync(file);
    for (let page = 8; page * 4096 < bytes.length; page += 1)
      bytes.fill(0xff, page * 4096, page * 4096 + 200);
    writeFileSync(file, bytes);
    expect(codes(file)).toContain("integrity damaged");
  });

  test("reports a missing file", () => {
    expect(codes("/nowhere/rondo.db")).toEqual(["file missing"]);
  });
});
