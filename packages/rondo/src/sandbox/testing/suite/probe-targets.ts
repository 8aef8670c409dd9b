// What the probes look for: files, servers and processes of the host.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probeProgram, probes } from "./probe-program.ts";

export interface ProbeResult {
  readonly isReached: boolean;
  readonly detail: string;
}

export type ProbeResults = Readonly<Record<string, ProbeResult>>;

export interface ProbeTargets {
  /** In names of files, command lines and variables of the host. */
  readonly marker: string;
  /** For the standard input of the program. */
  readonly input: Uint8Array;
  /** Runs the program on the host. */
  runOutside(): Promise<ProbeResults>;
  close(): Promise<void>;
}

export async function startTargets(): Promise<ProbeTargets> {
  const marker = `rondo-target-${randomBytes(6).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), `${marker}-`));
  const file = join(folder, `${marker}.db`);
  writeFileSync(file, "the secret of the host");
  const bystander = spawn("sh", ["-c", "sleep 1000; :", marker], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], PROBE: marker },
  });
  const servers = await Promise.all([
    listen(0, "127.0.0.1"),
    listen(0, "::1").catch(() => undefined),
    listen(join(folder, "server.sock")),
    listen(`\0${marker}`),
  ]);
  const [server4, server6] = servers;
  const input = Buffer.from(
    JSON.stringify({
      probes: Object.keys(probes),
      marker,
      folder: tmpdir(),
      file,
      secret: "the secret of the host",
      pid: bystander.pid,
      port4: portOf(server4),
      port6: portOf(server6),
      socket: join(folder, "server.sock"),
      abstract: marker,
    }),
  );
  return {
    marker,
    input,
    async runOutside() {
      const child = spawn("/usr/bin/python3", ["-c", probeProgram], {
        env: { PROBE: marker },
        stdio: ["pipe", "pipe", "inherit", openSync(file, "r")],
      });
      child.stdin?.end(input);
      return parseResults(await outputOf(child));
    },
    async close() {
      bystander.kill("SIGKILL");
      for (const server of servers) server?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function parseResults(text: string): ProbeResults {
  const results = JSON.parse(text) as Record<string, [boolean, string]>;
  return Object.fromEntries(
    Object.entries(results).map(([name, [isReached, detail]]) => [name, { isReached, detail }]),
  );
}

async function listen(...address: [port: number, host: string] | [path: string]): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).end("reached"));
  if (address.length === 1) server.listen(address[0]);
  else server.listen(address[0], address[1]);
  await once(server, "listening");
  server.unref();
  return server;
}

function portOf(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null | undefined)?.port ?? 0;
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(child, "close");
  return text;
}
