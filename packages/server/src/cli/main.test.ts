// The command as a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { startModelServer } from "rondo/testing";
import { expect, test, vi } from "vitest";
import { packageVersion } from "../config/package-version.ts";
import { folderWith } from "../config/testkit/folder.ts";

// Each test starts a Node, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const main = fileURLToPath(new URL("main.ts", import.meta.url));

function start(args: readonly string[], options: { cwd?: string; nodeFlags?: readonly string[] } = {}) {
  const { nodeFlags = [], cwd } = options;
  const child = spawn(process.execPath, ["--conditions=rondo-source", ...nodeFlags, main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {},
    ...(cwd === undefined ? {} : { cwd }),
  });
  return { child, err: text(child.stderr), ended: once(child, "close") as Promise<[number | null]> };
}

async function run(args: readonly string[], options?: Parameters<typeof start>[1]) {
  const { child, err, ended } = start(args, options);
  const out = await text(child.stdout);
  const [exitCode] = await ended;
  return { exitCode, out, err: await err };
}

/** The first line that the child writes. */
async function firstLine({ stdout }: ChildProcess): Promise<string> {
  for await (const chunk of stdout ?? []) return String(chunk);
  return "";
}

test("starts with the line that makes it a command", () => {
  expect(readFileSync(main, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test("shows its version, and its help when there is no command", async () => {
  const [version, help] = await Promise.all([run(["--version"]), run([])]);
  expect(version).toEqual({ exitCode: 0, out: `${packageVersion()}\n`, err: "" });
  expect(help.exitCode).toBe(2);
  expect(help.err).toContain("serve [options]");
});

test.runIf(existsSync("/proc/self/cmdline"))(
  "shows no password of its store in the list of processes",
  async () => {
    // Any argument counts: a store would have to exist.
    const args = ["serve", "--model-url", "http://127.0.0.1:9/v1", "--port", "0"];
    const { child, ended } = start([
      ...args,
      "--store",
      "memory",
      "--default-model",
      "postgres://a:hunter2@db/x",
    ]);
    await firstLine(child);
    const shown = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
    child.kill();
    await ended;
    expect(shown).toContain("postgres://a@db/x");
    expect(shown).not.toContain("hunter2");
  },
);

test("on an old Node it says what to do before it imports anything", async () => {
  const old = `Object.defineProperty(process.versions, "node", { value: "20.19.0" });
    (await import("node:module")).registerHooks({ resolve(name, context, next) {
      if (name.startsWith("./")) throw new Error("imported " + name);
      return next(name, context);
    } });`;
  const { exitCode, out, err } = await run(["serve"], {
    nodeFlags: ["--import", `data:text/javascript,${encodeURIComponent(old)}`],
  });
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(err).toMatch(
    /^Rondo needs Node 24 or newer, but this is Node 20\.19\.0 \(.*\)\.\nInstall a newer one/,
  );
});

test("serves a model until it is stopped", async () => {
  await using model = await startModelServer([{ text: "Hello!" }]);
  using folder = folderWith();
  const args = ["serve", "--port", "0", "--model-url", model.url, "--store", "sqlite:test.db"];
  const { child, ended, err } = start(args, { cwd: folder.path });
  const line = await firstLine(child);
  const [, url] =
    /at (http:\/\/127\.0\.0\.1:\d+\/v1) \(store: sqlite:test\.db; no key needed\)\.\n$/.exec(line) ?? [];
  const answer = await fetch(`${url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test-model", input: "Hi" }),
  });
  expect(await answer.json()).toMatchObject({ status: "completed", model: "test-model" });
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await err).toContain("Stopping: running requests get up to 10 s.");
});

test("reports why it cannot listen, with exit code 1", async () => {
  using folder = folderWith();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const args = ["serve", "--port", String(port), "--model-url", "http://127.0.0.1:9/v1", "--store", "memory"];
  const { exitCode, err } = await run(args, { cwd: folder.path });
  server.close();
  expect(exitCode).toBe(1);
  expect(err).toContain(`rondo: Another program already listens on port ${port}`);
});
