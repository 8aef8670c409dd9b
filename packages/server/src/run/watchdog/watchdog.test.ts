// A blocked event loop, in a process of its own.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readCrashNote } from "../../store/crash-note.ts";
import { tempFolder } from "../../store/testkit/temp-folder.ts";

const program = fileURLToPath(new URL("testkit/blocked-process.ts", import.meta.url));

async function run(way: string, note: string, flags: readonly string[] = []) {
  const child = spawn(process.execPath, ["--conditions=rondo-source", ...flags, program, way, note]);
  // One that blocks and is not ended would do so for ever.
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<string | number | null>((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? code));
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { end: await ended, stdout, stderr };
}

test.each(["at once", "later"])("a run that blocks %s is named, and its process is ended", async (way) => {
  using folder = tempFolder();
  const note = join(folder.path, "note");
  const { end, stderr } = await run(way, note);
  expect(end).toBe("SIGKILL");
  expect(stderr).toMatch(
    /^rondo: the event loop has been blocked for 1000 ms by the run of the response resp_blocked in blockFor \(\S*blocked-process\.ts:\d+\) .*\n$/,
  );
  expect(readCrashNote(note)).toBe("resp_blocked");
});

test("a run that blocks with microtasks is among the named ones", async () => {
  using folder = tempFolder();
  const { end, stderr } = await run("in microtasks", join(folder.path, "note"));
  expect(end).toBe("SIGKILL");
  expect(stderr).toMatch(
    / (while these responses ran: resp_beside|by the run of the response) resp_blocked\b/,
  );
});

test("if it blocks outside of JavaScript, all active runs are named, and none is blamed", async () => {
  using folder = tempFolder();
  const note = join(folder.path, "note");
  const { end, stderr } = await run("native", note);
  expect(end).toBe("SIGKILL");
  expect(stderr).toContain("blocked for 1000 ms while these responses ran: resp_beside resp_blocked (");
  expect(existsSync(note)).toBe(false);
});

test("preloaded modules of the process are not loaded into the thread", async () => {
  using folder = tempFolder();
  const module =
    'import { isMainThread } from "node:worker_threads"; if (!isMainThread) throw new Error("no");';
  const flag = `--import=data:text/javascript,${encodeURIComponent(module)}`;
  const { end, stderr } = await run("at once", join(folder.path, "note"), [flag]);
  expect({ end, stderr }).toEqual({ end: "SIGKILL", stderr: expect.stringContaining("resp_blocked") });
});

test("a run that is only slow continues", async () => {
  using folder = tempFolder();
  const { end, stdout, stderr } = await run("slow", join(folder.path, "note"));
  expect({ end, stdout, stderr }).toEqual({ end: 0, stdout: "done", stderr: "" });
});
