import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startFlags } from "./v8-flags.ts";

const folder = mkdtempSync(join(tmpdir(), "rondo-flags-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Tunes itself, then tells what it runs with. */
const program = join(folder, "program.mjs");
const module = JSON.stringify(new URL("v8-flags.ts", import.meta.url).href);
writeFileSync(
  program,
  `import { tuneForServing } from ${module};
tuneForServing();
const { execArgv: flags, argv, pid, env } = process;
console.log(JSON.stringify({ flags, args: argv.slice(2), pid, kept: env.RONDO_KEPT }));`,
);
const inWorker = join(folder, "in-worker.mjs");
writeFileSync(
  inWorker,
  `import { Worker } from "node:worker_threads"; new Worker(${JSON.stringify(program)}, { execArgv: [] });`,
);

async function run(nodeArgs: readonly string[], { file = program, options = "" } = {}) {
  const env = { ...process.env, NODE_OPTIONS: options, RONDO_KEPT: "yes" };
  const child = spawn(process.execPath, [...nodeArgs, file, "serve", "a b"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [exitCode] = (await once(child, "close")) as [number | null];
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  const { flags, args, pid, kept } = JSON.parse(output) as Record<"flags" | "args", string[]> & {
    pid: number;
    kept: string;
  };
  return { flags, args, kept, isSameProcess: pid === child.pid };
}

test.skipIf(process.platform === "win32")(
  "begins anew with V8's flags, as the same process with its arguments and environment",
  async () => {
    const told = await run(["--no-warnings"]);
    expect(told).toEqual({
      flags: [...startFlags, "--no-warnings"],
      args: ["serve", "a b"],
      kept: "yes",
      isSameProcess: true,
    });
  },
);

test.each([
  ["somebody chose the flag", ["--max-semi-space-size=32"], {}],
  ["it is in NODE_OPTIONS", [], { options: "--max-semi-space-size=32" }],
  ["processes may not be started", ["--permission", "--allow-fs-read=*"], {}],
  ["it is a worker thread", [], { file: inWorker }],
] as const)("goes on as it is where %s", async (_case, nodeArgs, options) => {
  const { flags } = await run(nodeArgs, options);
  expect(flags).not.toContain(startFlags[0]);
});
