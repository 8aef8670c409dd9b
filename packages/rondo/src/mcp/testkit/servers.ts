// Real MCP servers for tests: those of the registry, and a small one of our own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const mainFile = (manifest: string) => join(dirname(manifest), "dist/index.js");
const everythingFile = mainFile(require.resolve("@modelcontextprotocol/server-everything/package.json"));
const filesystemFile = mainFile(require.resolve("@modelcontextprotocol/server-filesystem/package.json"));
const smallFile = fileURLToPath(new URL("small-server.ts", import.meta.url));

/** Servers are started again and again, and compiling them is most of what that takes. */
const env = { NODE_COMPILE_CACHE: join(tmpdir(), "rondo-mcp-compiled") };

export function everything() {
  return { command: process.execPath, args: [everythingFile, "stdio"], env, name: "everything" };
}

export function filesystem(folder: string) {
  return { command: process.execPath, args: [filesystemFile, folder], env, name: "files" };
}

export function small(...flags: string[]) {
  return { command: process.execPath, args: [smallFile, ...flags], env, name: "small" };
}

/** The lines of a log that a server may still be writing. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

/** The server of the registry over streamable HTTP. Ends when it is disposed of. */
export async function startEverything(port: number): Promise<HttpServer> {
  const child = spawn(process.execPath, [everythingFile, "streamableHttp"], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await said(child, "listening");
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
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
