// The commands of the README and the quick start work unchanged, in the order of the page and without a model server.
// The port is a free one, and `npx` is a stand-in that runs the sources instead of a build.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";
import { shellLinesIn } from "./support/shell.ts";

const run = promisify(execFile);
const shownUrl = "http://127.0.0.1:4500";
const main = join(repoRoot, "packages/server/src/cli/main.ts");
const npx = `#!/bin/sh
command=$1; shift
case "$command" in
  rondo) exec "${process.execPath}" --conditions=rondo-source "${main}" "$@" ;;
  node) exec "${process.execPath}" --conditions=rondo-source "$@" ;;
esac
echo "npx does not know $command here" >&2; exit 1
`;

let folder: string;
let server: { process: ChildProcess; url: string } | undefined;

beforeEach(() => {
  // Inside the repo, so that `rondo` and `openai` resolve.
  mkdirSync(join(repoRoot, ".cache"), { recursive: true });
  folder = mkdtempSync(join(repoRoot, ".cache/first-commands-"));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/npx"), npx);
  chmodSync(join(folder, "bin/npx"), 0o755);
});

afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Expected output of a command, by the start of its line. */
const answers: Readonly<Record<string, string>> = {
  "npx rondo doctor": "Works end to end",
  "npx rondo --help": "rondo [options] [command]",
  "npx rondo chat": "is 42.",
  "npx rondo responses list": "completed",
  "npx node my-agent.ts": "multiply { a: 6, b: 7 }\n6 * 7 is 42.",
  "curl ": '"type":"mcp_call"',
};
/** Covered by other tests. */
const others = ["npm ci && npm test", "npm run tour", "npm run quirks"];

test.each(["README.md", "docs/quick-start.md"])(
  "all commands of %s work",
  { timeout: 120_000 },
  async (page) => {
    const markdown = readFileSync(join(repoRoot, page), "utf8");
    const files = [...markdown.matchAll(/Save this as `([\w.-]+)`.*:\n\n```ts\n([\s\S]*?)^```$/gm)];
    const lines = shellLinesIn(markdown).filter((line) => !others.some((other) => line.startsWith(other)));
    expect(lines[0]).toBe("npm ci && npm start");

    const faults: string[] = [];
    for (const line of lines) {
      // Files are saved just before they are used.
      const isServe = line.startsWith("npx rondo serve");
      for (const [, name = "", text = ""] of files)
        if (isServe || line.includes(name)) writeFileSync(join(folder, name), text);

      const known = Object.keys(answers).find((words) => line.startsWith(words));
      if (line.startsWith("npm ci && npm start")) await start("npx rondo serve --demo --free-port");
      else if (isServe) await start(line);
      else if (known === undefined) faults.push(`This test does not know ${line}`);
      else {
        const answer = await paste(line);
        if (!answer.includes(answers[known] ?? "")) faults.push(`${line} prints ${answer}`);
      }
    }
    expect(faults).toEqual([]);
  },
);

const environment = () => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RONDO_"))),
  PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`,
  NO_COLOR: "1",
  RONDO_PORT: "0",
});

/** Runs a line. A chat gets a prompt. */
async function paste(line: string): Promise<string> {
  const url = server?.url ?? shownUrl;
  // These use the default port if none is given.
  const looksAtServer = /rondo (doctor|responses)/.test(line);
  const env = { ...environment(), ...(looksAtServer && { RONDO_SERVER: url }) };
  const pasted = run("bash", ["-c", line.replaceAll(shownUrl, url)], { cwd: folder, env });
  pasted.child.stdin?.end("What is 25 + 17?\n");
  return (await pasted).stdout;
}

/** Replaces the running server. */
async function start(line: string): Promise<void> {
  await stop();
  const child = spawn("bash", ["-c", `exec ${line}`], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const url = / at (http:\S+)\/v1 \(/.exec(output)?.[1];
    if (url === undefined) continue;
    server = { process: child, url };
    child.stdout.resume();
    return;
  }
  throw new Error(`${line} exited before serving: ${output}`);
}

async function stop(): Promise<void> {
  if (server?.process.exitCode === null) {
    const ended = once(server.process, "close");
    server.process.kill("SIGTERM");
    await ended;
  }
  server = undefined;
}
