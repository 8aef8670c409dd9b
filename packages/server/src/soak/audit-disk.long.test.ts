// The disk of the audit log is full, for a real server in a process of its own: the system refuses what is too much.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { LogReader } from "../audit/read-log.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";

const command = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
// A file may have a few kilobytes; what would make it larger fails, as on a full disk.
const limited = 'trap "" XFSZ; ulimit -f 16; exec "$@"';

async function start(folder: string, audit: string): Promise<{ url: string; child: ChildProcess }> {
  const args = ["--conditions=rondo-source", command, "serve", "--demo", "--store", "memory", "--port", "0"];
  const child = spawn("sh", ["-c", limited, "sh", process.execPath, ...args, "--audit", audit], {
    cwd: folder,
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1", RONDO_SANDBOX_KIND: "none" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = / at (http:\S+)\/v1 /.exec(line)?.[1];
    if (url !== undefined) return { url, child };
  }
  throw new Error("The server did not start.");
}

test("a full disk refuses requests, and a new file ends that, with nothing lost", {
  skip: process.platform === "win32",
  timeout: 60_000,
}, async () => {
  using folder = tempFolder();
  const path = join(folder.path, "audit.jsonl");
  const { url, child } = await start(folder.path, path);
  const ask = () =>
    fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "demo", input: "Hi." }),
    });
  const list = async () => (await fetch(`${url}/v1/models`)).status;
  for (let count = 0; (await list()) === 200; count += 1) expect(count).toBeLessThan(200);
  const reply = await ask();
  expect({ status: reply.status, retryAfter: reply.headers.get("retry-after") }).toEqual({
    status: 503,
    retryAfter: "1",
  });
  expect(await reply.json()).toMatchObject({ error: { code: "audit_unavailable", type: "server_error" } });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const ready = await fetch(`${url}/readyz`);
  expect({ status: ready.status, body: await ready.json() }).toEqual({
    status: 503,
    body: { status: "unavailable", reason: expect.stringContaining("audit log cannot be written") },
  });

  renameSync(path, `${path}.1`);
  await vi.waitFor(async () => expect(await list()).toBe(200), { timeout: 10_000, interval: 200 });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  child.kill("SIGTERM");
  await once(child, "exit");
  const reader = new LogReader();
  const texts = [`${path}.1`, path].map((file) => readFileSync(file));
  // The end of the first file is a part of the line that begins the second one.
  const lines = [...reader.read(texts[0] as Buffer), ...reader.end(), ...reader.read(texts[1] as Buffer)];
  expect(reader.missing).toBe(0);
  expect(reader.broken).toBeLessThanOrEqual(1);
  expect(lines[0]?.action).toBe("server.started");
  expect(lines.at(-1)?.action).toBe("server.stopped");
  expect(lines.filter(({ status }) => status === 503)).not.toEqual([]);
});
