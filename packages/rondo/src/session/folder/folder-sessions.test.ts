// Sessions in files: what crashes and other processes leave behind.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { collectWarnings } from "../../testkit/warnings.ts";
import { loadSession } from "../session.ts";
import type { SessionEntry } from "../store.ts";
import { defaultSessionFolder, folderSessions } from "./folder-sessions.ts";

const start: SessionEntry = { type: "session", version: 1, id: "one", createdAt: "2026-01-02T03:04:05.000Z" };
const says = (content: string): SessionEntry => ({ type: "message", message: { role: "user", content } });

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rondo-sessions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** How many bytes the entries take. */
function linesOf(entries: readonly SessionEntry[]): number {
  return entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)) + 1, 0);
}

describe("a torn file", () => {
  test("loses its torn entry and nothing else, wherever it was cut, and can be continued", async () => {
    const folder = temporaryFolder();
    const store = folderSessions(folder);
    const file = join(folder, "one.jsonl");
    const warnings = collectWarnings();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (texts, place) => {
          rmSync(file, { force: true });
          await store.append("one", [start, ...texts.map(says)]);
          const whole = readFileSync(file);
          const cut = Math.round(place * whole.length);
          writeFileSync(file, whole.subarray(0, cut));
          const all = [start, ...texts.map(says)];
          // An entry counts as soon as its closing brace is there.
          const ends = all.map((_, index) => linesOf(all.slice(0, index + 1)) - 1);
          const count = ends.filter((end) => end <= cut).length;
          const entries = all.slice(0, count);
          warnings.length = 0;
          expect(await store.read("one")).toEqual(count === 0 ? undefined : entries);
          expect(warnings.length).toBe(cut > linesOf(entries) ? 1 : 0);
          await using _ = await store.lock("one");
          if (count === 0) return;
          await store.append("one", [says("more")]);
          expect(await store.read("one")).toEqual([...entries, says("more")]);
        },
      ),
    );
  });

  test("that is damaged in the middle is reported with its line, and left alone", async () => {
    const folder = temporaryFolder();
    const store = folderSessions(folder);
    await store.append("one", [start, says("a")]);
    const file = join(folder, "one.jsonl");
    appendFileSync(file, '{"type":"mess\n{"type":"info","info":{}}\n');
    const before = readFileSync(file, "utf8");
    await expect(store.read("one")).rejects.toThrow(
      /^The session 'one' cannot be read: line 3 of .*one\.jsonl/,
    );
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});

test("is appended to, never rewritten, and readable only by its user", async () => {
  const folder = join(temporaryFolder(), "sessions");
  const store = folderSessions(folder);
  await store.append("one", [start, says("a")]);
  const file = join(folder, "one.jsonl");
  const before = readFileSync(file, "utf8");
  await store.append("one", [says("b")]);
  expect(readFileSync(file, "utf8")).toBe(`${before}${JSON.stringify(says("b"))}\n`);
  if (process.platform === "win32") return;
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("has a limit, at which it stays readable", async () => {
  const store = folderSessions(temporaryFolder(), { maxBytes: 300 });
  await store.append("one", [start, says("a")]);
  await expect(store.append("one", [says("x".repeat(300))])).rejects.toMatchObject({
    code: "session_limit",
    maxBytes: 300,
  });
  expect(await store.read("one")).toEqual([start, says("a")]);
});

test("the default folder is that of the user's state", () => {
  expect(defaultSessionFolder({ XDG_STATE_HOME: "/state", HOME: "/home/me" })).toBe("/state/rondo/sessions");
  expect(defaultSessionFolder({ XDG_STATE_HOME: "relative", HOME: "/home/me" })).toBe(
    "/home/me/.local/state/rondo/sessions",
  );
});

describe("the lock", () => {
  test("of a dead process does not count, also if another process has its id now", async () => {
    const folder = temporaryFolder();
    const store = folderSessions(folder);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const claims = join(folder, "one.lock");
    mkdirSync(claims);
    writeFileSync(join(claims, `${pid}~1~${hostname()}~x`), "");
    // This process, but started at another time: only where the system says when.
    if (process.platform === "linux") writeFileSync(join(claims, `${process.pid}~1~${hostname()}~y`), "");
    await using _ = await store.lock("one");
    expect(readdirSync(claims)).toHaveLength(1);
  });

  test("of another machine counts, and the message says what to do", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "one.lock"));
    writeFileSync(join(folder, "one.lock", "1~2~elsewhere~x"), "");
    await expect(folderSessions(folder).lock("one")).rejects.toThrow(
      /in use by process 1 on elsewhere\. .* If that machine is gone, delete .*one\.lock\./,
    );
  });

  test("of a machine whose name cannot be decoded counts too, under the name as it is", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "one.lock"));
    writeFileSync(join(folder, "one.lock", "1~2~odd%E4%~x"), "");
    await expect(folderSessions(folder).lock("one")).rejects.toThrow("in use by process 1 on odd%E4%. ");
  });

  test("is held by one of many that want it at once, and leaves nothing behind", async () => {
    const folder = temporaryFolder();
    const stores = Array.from({ length: 8 }, () => folderSessions(folder));
    const tries = await Promise.allSettled(stores.map((store) => store.lock("one")));
    const held = tries.flatMap((it) => (it.status === "fulfilled" && it.value ? [it.value] : []));
    expect(held.length).toBeLessThanOrEqual(1);
    for (const lock of held) await lock[Symbol.asyncDispose]();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a writer that is killed", () => {
  vi.setConfig({ testTimeout: 60_000 });

  test("at any moment leaves a session with everything it was told is kept, which another continues", async () => {
    const folder = temporaryFolder();
    const store = folderSessions(folder);
    collectWarnings();
    let count = 0;
    for (let round = 0; round < 6; round++) {
      const child = startWriter(folder, count);
      const kept = await killAfter(child, count + 3 + round * 2);
      await expect
        .poll(() =>
          store
            .lock("one")
            .then((lock) => lock[Symbol.asyncDispose]())
            .then(() => "free"),
        )
        .toBe("free");
      const { messages } = await loadSession(store, "one");
      // One more may have been written and not reported.
      expect(messages.length - 1 - kept).toBeOneOf([0, 1]);
      for (const [number, { content }] of messages.entries())
        expect(content).toBe(`${number} ${"x".repeat((number % 7) * 100_000)}`);
      count = messages.length;
    }
  });

  test("holds the lock while it lives", async () => {
    const folder = temporaryFolder();
    const child = startWriter(folder, 0);
    await once(child.stdout as NodeJS.ReadableStream, "data");
    await expect(folderSessions(folder).lock("one")).rejects.toMatchObject({ code: "session_locked" });
    child.kill("SIGKILL");
    await once(child, "exit");
    await using _ = await folderSessions(folder).lock("one");
  });
});

function startWriter(folder: string, from: number): ChildProcess {
  const program = fileURLToPath(new URL("./testkit/writer.ts", import.meta.url));
  return spawn(process.execPath, ["--conditions=rondo-source", program, folder, "one", String(from)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Kills it without warning once it has reported an entry. Gives the last one that it reported. */
async function killAfter(child: ChildProcess, number: number): Promise<number> {
  let last = -1;
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) {
    last = Number(line);
    if (last >= number) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return last;
}
