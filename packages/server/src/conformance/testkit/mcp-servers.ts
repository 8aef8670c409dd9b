// MCP servers of the registry, as processes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "../../../../../test/support/free-port.ts";

const require = createRequire(import.meta.url);
const mainFile = (manifest: string) => join(dirname(manifest), "dist/index.js");
// In full, so that a package that is not used any more is found.
const everythingFile = mainFile(require.resolve("@modelcontextprotocol/server-everything/package.json"));
const filesystemFile = mainFile(require.resolve("@modelcontextprotocol/server-filesystem/package.json"));

/** Servers are started again and again, and compiling them is most of what that takes. */
const env = { NODE_COMPILE_CACHE: join(tmpdir(), "rondo-mcp-compiled") };

/** Loaded before the server: it tells who it is. */
const tellPid = `data:text/javascript,import{writeFileSync}from"node:fs";writeFileSync(process.env.PID_FILE,String(process.pid))`;

/** Over stdio. `pidFile` gets its process id with each start. */
export function everything(pidFile?: string) {
  const args = [everythingFile, "stdio"];
  if (pidFile === undefined) return { command: process.execPath, args, env };
  return {
    command: process.execPath,
    args: ["--import", tellPid, ...args],
    env: { ...env, PID_FILE: pidFile },
  };
}

export function filesystem(folder: string) {
  return { command: process.execPath, args: [filesystemFile, folder], env };
}

/** Kills the process whose id is in a file. */
export async function killByFile(pidFile: string): Promise<void> {
  process.kill(Number(await readFile(pidFile, "utf8")), "SIGKILL");
}

/** A folder for the length of a test. */
export async function testFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "rondo-mcp-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

export interface HttpServer {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** The same over streamable HTTP, for the length of a test. */
export async function startEverything(): Promise<HttpServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const server = {
    url: `http://127.0.0.1:${port}/mcp`,
    async start() {
      child = spawn(process.execPath, [everythingFile, "streamableHttp"], {
        env: { ...process.env, ...env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"],
      });
      await said(child, "listening");
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
  onTestFinished(() => server.kill());
  await server.start();
  return server;
}

function said(child: ChildProcess, words: string): Promise<void> {
  return new Promise((done, reject) => {
    let text = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes(words)) done();
    });
    child.once("exit", () => reject(new Error(`The server has ended: ${text}`)));
  });
}
