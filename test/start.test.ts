// A newcomer's first commands: `npm start`, and then each of the three commands that it prints, pasted unchanged.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { startModelServer } from "rondo/testing";
import { afterEach, expect, test } from "vitest";
import { expectConsole } from "./support/console.ts";
import { repoRoot } from "./support/repo.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "rondo-start-"));
let server: ChildProcess | undefined;

afterEach(async () => {
  if (server?.exitCode === null) {
    const ended = once(server, "close");
    server.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

test("npm start serves a found model, and the commands that it prints work when pasted", {
  timeout: 120_000,
}, async () => {
  await using model = await startModelServer({ text: "It is 42." }, { models: ["tiny"] });
  // As in npm: the repository's own Node comes first.
  const env = {
    ...process.env,
    PATH: `${join(repoRoot, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`,
    RONDO_MODEL_URL: model.url,
    NO_COLOR: "1",
  };
  const args = [join(repoRoot, "scripts/start.ts"), "--port", "0", "--store", `sqlite:${folder}/rondo.db`];
  server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of server.stdout ?? []) {
    output += String(chunk);
    if (output.includes("Ctrl-C stops the server.")) break;
  }
  expect(output).toContain(`A model server answers at ${model.url}: tiny.`);
  expect(output).toContain(`-d '{"model":"tiny"`);

  const [, url = ""] = /^Open (\S+)\/ in a browser/m.exec(output) ?? [];
  await expectConsole(url);

  const commands = output.split("\n").flatMap((line) => /^ {2}((?:curl|node|npx) .+)$/.exec(line)?.[1] ?? []);
  expect(commands.map((command) => command.split(" ")[0])).toEqual(["curl", "node", "npx"]);
  for (const command of commands) {
    // The chat gets a prompt; everything else is unchanged.
    const pasted = command.includes(" chat ") ? `${command} "What is 25 + 17?"` : command;
    const { stdout } = await run("bash", ["-c", pasted], { cwd: repoRoot, env });
    expect(stdout).toContain("It is 42.");
  }
});
