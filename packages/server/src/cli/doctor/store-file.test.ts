import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { openStore } from "../../store/open-store.ts";
import { reportOf, runDoctor } from "./testkit/doctor.ts";

test("--store checks only the store of the config, or the named one", async () => {
  using folder = folderWith();
  await (await openStore(`sqlite:${join(folder.path, "rondo.db")}`)).close();
  for (const args of [["--store"], ["--store", "rondo.db"], ["--store", "sqlite:./rondo.db"]]) {
    const { out, exitCode } = await runDoctor(args, { cwd: folder.path });
    expect(exitCode).toBe(0);
    expect(out).toContain("✓ the write-ahead log is complete");
    expect(out).toContain("✓ its pages, rows and indexes are intact");
    expect(out.trimEnd().split("\n").at(-1)).toBe("✓ The store is intact.");
    expect(out).not.toContain("Model servers");
  }
});

test("--store reports damage, and the exit code is 1", async () => {
  using folder = folderWith();
  const path = join(folder.path, "rondo.db");
  await (await openStore(`sqlite:${path}`)).close();
  // A log with a header that nobody can read.
  writeFileSync(`${path}-wal`, Buffer.alloc(5000, 7));
  const { report, exitCode } = await reportOf(["--store"], { cwd: folder.path });
  expect(exitCode).toBe(1);
  expect(report).toMatchObject({ ok: false, servers: [], result: { status: "failed", code: "broken_wal" } });
  const { out } = await runDoctor(["--store"], { cwd: folder.path });
  expect(out).toContain("✗ the write-ahead log is broken: its header is damaged");
  expect(out).toContain("→ Copy the database and its -wal file before");

  const missing = await runDoctor(["--store", "nothing.db"], { cwd: folder.path });
  expect(missing.exitCode).toBe(1);
  expect(missing.out).toContain("nothing.db does not exist");
});
