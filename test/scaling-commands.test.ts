// The commands of "Three nodes, step by step" work in the order of the page, with a real PostgreSQL and HAProxy. Ports are
// free ones, and `rondo` runs the sources instead of a build.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  asSuperuser,
  type PostgresServer,
  startPostgresServer,
} from "../packages/server/src/store/postgres/testkit/postgres-server.ts";
import { repoRoot } from "./support/repo.ts";

const run = promisify(execFile);
const main = join(repoRoot, "packages/server/src/cli/main.ts");
const page = readFileSync(join(repoRoot, "docs/scaling.md"), "utf8");
const steps = page.slice(page.indexOf("## Three nodes"), page.indexOf("## Moving"));
const isMissing = spawnSync("haproxy", ["-v"]).error !== undefined;

let folder: string;
let postgres: PostgresServer;
const started: ChildProcess[] = [];

beforeAll(async () => {
  if (isMissing) return;
  folder = mkdtempSync(join(tmpdir(), "rondo-scaling-"));
  writeFileSync(
    join(folder, "rondo"),
    `#!/bin/sh\nexec "${process.execPath}" --conditions=rondo-source "${main}" "$@"\n`,
  );
  chmodSync(join(folder, "rondo"), 0o755);
  postgres = await startPostgresServer();
}, 60_000);

afterAll(async () => {
  for (const { pid } of started) if (pid !== undefined) process.kill(-pid, "SIGKILL");
  await postgres?.[Symbol.asyncDispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true });
}, 60_000);

test.skipIf(isMissing)(
  `three nodes behind a load balancer${isMissing ? ": haproxy is not installed" : ""}`,
  { timeout: 120_000 },
  async () => {
    for (const statement of codeOf("sql").split(";\n").filter(Boolean))
      await asSuperuser(postgres, (client) => client.query(statement));
    const ports = await freePorts(4);
    const [balancer, ...nodes] = ports;
    const shown = [8080, 4501, 4502, 4503];
    const commands = shown
      .reduce((text, port, index) => text.replaceAll(`${port}`, `${ports[index]}`), codeOf("sh"))
      .replace("5432", `${postgres.port}`);
    const environment = /^export (RONDO_STORE)='(.+)'$/m.exec(commands);
    const env = {
      ...process.env,
      PATH: `${folder}${delimiter}${process.env["PATH"]}`,
      [environment?.[1] ?? ""]: environment?.[2],
    };
    const lines = commands.replaceAll("\\\n", "").split("\n").filter(Boolean);
    const outputs = new Map<string, string>();
    for (const line of lines) {
      const background = /^(.+) &$/.exec(line)?.[1];
      if (background !== undefined) {
        // In the repository, for deploy/haproxy.cfg; a config file there would be the nodes' own.
        const cwd = background.startsWith("rondo") ? folder : repoRoot;
        started.push(spawn("sh", ["-c", background], { cwd, env, detached: true, stdio: "ignore" }));
        continue;
      }
      if (line.startsWith("curl")) for (const port of [...nodes, balancer]) await untilReady(port);
      const { stdout } = await run("sh", ["-c", line], { cwd: folder, env });
      outputs.set(line.split(" ", 1)[0] ?? "", stdout);
    }
    expect(started).toHaveLength(4);
    expect(outputs.get("rondo")).toContain("PostgreSQL");
    const { id } = JSON.parse(outputs.get("curl") ?? "");
    // Each request may go to another node.
    const status = async () => {
      const response = await fetch(`http://127.0.0.1:${balancer}/v1/responses/${id}`);
      return ((await response.json()) as { status: string }).status;
    };
    await expect.poll(status, { timeout: 60_000, interval: 100 }).toBe("completed");
  },
);

async function untilReady(port: number | undefined): Promise<void> {
  while (true) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.status === 200) return;
    await setTimeout(100);
  }
}

/** All blocks of code of a language, as one text. */
function codeOf(language: string): string {
  return [...steps.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))]
    .map((match) => match[1])
    .join("");
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  return servers.map((server) => {
    const address = server.address();
    server.close();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
}
