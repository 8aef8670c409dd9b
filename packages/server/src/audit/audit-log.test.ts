import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as tick } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { AuditLog, type AuditSink, AuditUnavailable } from "./audit-log.ts";
import { AuditFileError } from "./file-sink.ts";
import { openAudit } from "./open-audit.ts";
import { LogReader } from "./read-log.ts";

const quiet = { onFailure: "refuse", onWarning: () => {} } as const;

function linesOf(path: string) {
  const reader = new LogReader();
  const lines = [...reader.read(readFileSync(path)), ...reader.end()];
  return {
    actions: lines.map(({ action }) => action),
    lines,
    broken: reader.broken,
    missing: reader.missing,
  };
}

/** A disk with so much room, which it may get more of. */
function smallDisk(bytes: number) {
  const disk = { text: "", room: bytes, writes: 0, syncs: 0, isTorn: false };
  const sink: AuditSink = {
    write(lines) {
      disk.writes += 1;
      const all = (disk.isTorn ? "\n" : "") + lines.join("");
      const fits = all.slice(0, disk.room);
      disk.text += fits;
      disk.room -= fits.length;
      disk.isTorn = disk.text !== "" && !disk.text.endsWith("\n");
      if (fits.length === all.length) return { written: lines.length };
      return { written: fits.split("\n").length - 1, error: new Error("ENOSPC: no space left on device") };
    },
    sync: async () => {
      disk.syncs += 1;
    },
    close: () => {},
  };
  return { disk, sink };
}

test("facts of one tick are one write and one sync, and settle together", async () => {
  const { disk, sink } = smallDisk(100_000);
  const log = new AuditLog(sink, quiet);
  expect(log.settled()).toBeUndefined();
  expect([log.record({ action: "request.started" }), log.record({ action: "request.started" })]).toEqual([
    1, 2,
  ]);
  const waiting = log.settled();
  expect(log.settled()).toBe(waiting);
  expect(disk.writes).toBe(0);
  await waiting;
  expect(disk).toMatchObject({ writes: 1, syncs: 1 });
  expect(log.settled()).toBeUndefined();
  await log.close();
});

test("a line that nobody waits for is written at once, and on the disk with the next one, or within a second", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { disk, sink } = smallDisk(100_000);
    const log = new AuditLog(sink, quiet);
    log.record({ action: "request.ended" });
    await tick();
    await tick();
    expect(disk).toMatchObject({ writes: 1, syncs: 0 });
    await log.settled();
    expect(disk).toMatchObject({ writes: 1, syncs: 1 });
    log.record({ action: "request.ended" });
    await tick();
    await vi.advanceTimersByTimeAsync(1000);
    await tick();
    expect(disk).toMatchObject({ writes: 2, syncs: 2 });
    expect(log.settled()).toBeUndefined();
    await log.close();
  } finally {
    vi.useRealTimers();
  }
});

test("what is recorded during a sync waits for the next one", async () => {
  const { disk, sink } = smallDisk(100_000);
  const gate = Promise.withResolvers<void>();
  const log = new AuditLog(
    { ...sink, sync: () => (++disk.syncs === 1 ? gate.promise : Promise.resolve()) },
    quiet,
  );
  log.record({ action: "request.started" });
  const first = log.settled();
  await tick();
  await tick();
  log.record({ action: "request.ended" });
  let isSecondSettled = false;
  const second = log.settled()?.then(() => (isSecondSettled = true));
  gate.resolve();
  await first;
  expect(isSecondSettled).toBe(false);
  await second;
  expect(disk).toMatchObject({ writes: 2, syncs: 2 });
  await log.close();
});

test("on a full disk it refuses, ends the torn line when there is room, and has lost nothing", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { disk, sink } = smallDisk(300);
    const warnings: string[] = [];
    const log = new AuditLog(sink, { onFailure: "refuse", onWarning: (message) => warnings.push(message) });
    for (const owner of ["a", "b", "c", "d"]) log.record({ action: "request.started", owner });
    await expect(log.settled()).rejects.toThrow(AuditUnavailable);
    // At once: there is no point in trying for each request.
    await expect(log.settled()).rejects.toMatchObject({ status: 503, code: "audit_unavailable" });
    expect(disk.writes).toBe(1);
    disk.room = 100_000;
    log.record({ action: "request.started", owner: "e" });
    await vi.advanceTimersByTimeAsync(1100);
    await log.settled();
    expect(warnings).toEqual([
      "The audit log cannot be written: requests and calls are refused until it can.",
      "The audit log can be written again.",
    ]);
    const reader = new LogReader();
    const owners = [...reader.read(Buffer.from(disk.text))].map(({ owner }) => owner);
    expect(owners).toEqual(["a", "b", "c", "d", "e"]);
    expect(reader).toMatchObject({ broken: 1, missing: 0 });
    await log.close();
  } finally {
    vi.useRealTimers();
  }
});

test("with `warn` it goes on, and says how many lines were too many to keep", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { disk, sink } = smallDisk(0);
    const log = new AuditLog(sink, { onFailure: "warn", onWarning: () => {} });
    log.record({ action: "request.started" });
    await log.settled();
    expect(log.settled()).toBeUndefined();
    for (let count = 0; count < 20_000; count += 1)
      log.record({ action: "request.started", owner: "x".repeat(99) });
    disk.room = 10_000_000;
    await vi.advanceTimersByTimeAsync(1100);
    await log.settled();
    await log.settled();
    const reader = new LogReader();
    const lines = [...reader.read(Buffer.from(disk.text))];
    const gap = lines.at(-1);
    expect(gap).toMatchObject({ action: "log.gap", count: expect.any(Number) });
    expect(lines.length + Number(gap?.["count"])).toBe(20_002);
    expect(disk.text.length).toBeLessThan(2_100_000);
    await log.close();
  } finally {
    vi.useRealTimers();
  }
});

test("a file is created for its owner alone; a line that was cut off is ended and noted", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "audit.jsonl");
  await openAudit({ target: path, version: "1.0.0", ...quiet }).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  writeFileSync(path, '{"v":1,"time":"2026', { flag: "a" });
  await openAudit({ target: path, version: "1.0.0", ...quiet }).close();
  expect(linesOf(path)).toMatchObject({
    actions: ["server.started", "log.repaired", "server.started"],
    broken: 1,
  });
});

test("a path where no file can be is an error that says what to do", () => {
  using folder = tempFolder();
  const open = (target: string) => openAudit({ target, version: "1.0.0", ...quiet });
  expect(() => open(join(folder.path, "gone", "audit.jsonl"))).toThrow(AuditFileError);
  mkdirSync(join(folder.path, "folder"));
  expect(() => open(join(folder.path, "folder"))).toThrow(/cannot be opened: .*Set another path/);
  expect(() => open("/dev/null")).toThrow("expected a file");
});

test("a file that is renamed is followed by a new one, and one that is emptied is continued; no line is lost", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "audit.jsonl");
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    const log = openAudit({ target: path, version: "1.0.0", ...quiet });
    const recordLater = async (owner: string) => {
      nowMs += 1001;
      log.record({ action: "request.started", owner });
      await log.settled();
    };
    await recordLater("a");
    renameSync(path, `${path}.1`);
    await recordLater("b");
    copyFileSync(path, `${path}.2`);
    truncateSync(path);
    await recordLater("c");
    await log.close();
    const owners = ["", ".1", ".2"].map((end) => linesOf(path + end).lines.map(({ owner }) => owner));
    expect(owners).toEqual([["c"], [undefined, "a"], ["b"]]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    clock.mockRestore();
  }
});

test("a folder that forbids a new file after a rotation is a failure, until it allows it", {
  skip: process.getuid?.() === 0,
}, async () => {
  using folder = tempFolder();
  const path = join(folder.path, "audit.jsonl");
  const log = openAudit({ target: path, version: "1.0.0", ...quiet });
  await log.settled();
  renameSync(path, `${path}.1`);
  chmodSync(folder.path, 0o500);
  await vi.waitFor(async () => {
    log.record({ action: "request.started" });
    await expect(log.settled()).rejects.toThrow(AuditUnavailable);
  });
  chmodSync(folder.path, 0o700);
  await vi.waitFor(async () => log.settled(), { timeout: 5000 });
  await log.close();
});
