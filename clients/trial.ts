// One client on one API: three turns, each with a call of the server's tool and of the client's shell.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startServer } from "@rondo/server";
import { tool } from "rondo";
import type { Api, Client } from "./client.ts";
import { runAcpClient, runClient } from "./client-process.ts";
import { type Seen, serverTool, taskModel } from "./task-model.ts";

export interface Outcome {
  readonly client: Client;
  readonly api: Api;
  /** Whether the shell made the file in the first turn. */
  readonly makesFile: boolean;
  /** Whether three turns went through. */
  readonly hasThreeTurns: boolean;
  /** How many of three results of the server's tool the model saw at the end; undefined where the API has no such tools. */
  readonly remembered: number | undefined;
  /** What went wrong. */
  readonly problem?: string | undefined;
}

const prompts = [1, 2, 3].map((number) => `Make a file with your shell: task ${number}`);
const timeoutMs = 120_000;

export async function tryClient(client: Client, api: Api, folder: string, modules: string): Promise<Outcome> {
  const home = join(folder, `${client.name}-${api}`.replace(/\W+/g, "-").toLowerCase());
  rmSync(home, { recursive: true, force: true });
  const cwd = join(home, "work");
  mkdirSync(cwd, { recursive: true });
  // A project of its own: some clients take a snapshot of the whole repository that they are in.
  spawnSync("git", ["init", "--quiet"], { cwd });
  const seen: Seen = { codes: new Map() };
  let problem: string | undefined;
  await using server = await startServer({
    port: 0,
    store: "memory",
    log: { level: "silent" },
    models: { scripted: taskModel(seen) },
    tools: [serverToolOf()],
    shutdownMs: 0,
  });
  try {
    const place = { home, url: `${server.url}/v1`, api };
    for (const [path, text] of Object.entries(client.files?.(place) ?? {})) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    }
    const common = {
      program: join(modules, client.program),
      cwd,
      timeoutMs,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: home,
        TERM: "dumb",
        NO_COLOR: "1",
        CI: "1",
        ...client.env?.(place),
      },
    };
    if (client.isAcp) await runAcpClient({ ...common, args: client.args("", true, place) }, prompts);
    else
      for (const [index, prompt] of prompts.entries())
        await runClient({ ...common, args: client.args(prompt, index === 0, place) });
  } catch (error) {
    problem = String(error instanceof Error ? error.message : error);
  }
  const lines = linesOf(join(cwd, "made.txt"));
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return {
    client,
    api,
    makesFile: lines[0] === "1",
    hasThreeTurns: lines.join() === "1,2,3" && seen.codes.has(3),
    remembered: api === "chat completions" ? undefined : (seen.codes.get(3) ?? 0),
    problem,
  };
}

function serverToolOf() {
  let count = 0;
  return tool(
    {
      name: serverTool,
      description: "Looks up the code of a task.",
      input: { task: Number },
      registry: false,
    },
    async () => {
      count += 1;
      return `code-${count}`;
    },
  );
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}
