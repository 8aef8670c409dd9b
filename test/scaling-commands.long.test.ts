// The commands of "Three nodes, step by step" work in the order of the page, with a real PostgreSQL and HAProxy. Ports are
// free ones, and `rondo` runs the sources instead of a build.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { freePort } from "./support/free-port.ts";
import { repoRoot } from "./support/repo.ts";

const run = promisify(execFile);
const main = join(repoRoot, "packages/server/src/cli/main.ts");
const page = readFileSync(join(repoRoot, "docs/scaling.md"), "utf8");
const steps = page.slice(page.indexOf("## Three nodes"), page.indexOf("## Moving"));
const isMissing = spawnSync("haproxy", ["-v"]).error !== undefined;

let folder: string;
let postgres: PostgresServer;
const started: Started[] = [];

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
  // With all that the shell has started.
  for (const { child } of started) if (isRunning(child)) process.kill(-(child.pid ?? 0), "SIGKILL");
  await postgres?.[Symbol.asyncDispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true });
}, 60_000);

test.skipIf(isMissing)(
  `three nodes behind a load balancer${isMissing ? ": haproxy is not installed" : ""}`,
  { timeout: 120_000 },
  async () => {
    for (const statement of codeOf("sql").split(";\n").filter(Boolean))
      await asSuperuser(postgres, (client) => client.query(statement));
    const balancer = await freePort();
    const nodes = [await freePort(), await freePort(), await freePort()];
    const ports = new Map(
      ["8080", "4501", "4502", "4503"].map((shown, index) => [shown, [balancer, ...nodes][index]]),
    );
    ports.set("5432", postgres.port);
    const commands = codeOf("sh").replace(/\d{4}/g, (digits) => `${ports.get(digits) ?? digits}`);
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
        started.push(startCommand(background, { cwd, env }));
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

interface Started {
  readonly command: string;
  readonly child: ChildProcess;
  output: string;
}

function startCommand(command: string, { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Started {
  const child = spawn("sh", ["-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const started: Started = { command, child, output: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      started.output += bytes;
    });
  return started;
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function untilReady(port: number): Promise<void> {
  while (true) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (response?.status === 200) return;
    for (const { command, child, output } of started)
      if (!isRunning(child)) throw new Error(`"${command}" has ended: ${output}`);
    await setTimeout(100);
  }
}

/** All blocks of code of a language, as one text. */
function codeOf(language: string): string {
  return [...steps.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))]
    .map((match) => match[1])
    .join("");
}
