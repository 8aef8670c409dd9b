// Both packages as users get them: packed, and installed from the tarballs into a folder outside the repository, by
// the commands of docs/install.md.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { buildConsole } from "../../packages/console/build.ts";
import { packages, writeBundle } from "../../scripts/bundle.ts";
import { repoRoot } from "./repo.ts";
import { shellLinesIn } from "./shell.ts";

const run = promisify(execFile);

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Served extends AsyncDisposable {
  readonly url: string;
}

/** No settings of this machine, no colours, and the repository's Node. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RONDO|npm)_/.test(name))),
  PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
  NO_COLOR: "1",
  FORCE_COLOR: undefined,
  NODE_OPTIONS: undefined,
  // What was downloaded for the repository need not be asked for again.
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
};

/** Packs without declarations, which no program needs to run: `npm run check` has the types. */
async function pack(folder: string): Promise<string> {
  await buildConsole();
  const staged = await Promise.all(
    packages.map(async (one) => {
      const copy = join(folder, basename(one.folder));
      mkdirSync(copy, { recursive: true });
      for (const name of ["package.json", "bin", "console", "README.md", "LICENSE"])
        if (existsSync(join(one.folder, name)))
          cpSync(join(one.folder, name), join(copy, name), { recursive: true });
      await writeBundle(one, join(copy, "dist"));
      return copy;
    }),
  );
  await run("npm", ["pack", "--silent", "--pack-destination", folder, ...staged], { env, cwd: folder });
  return folder;
}

/** The folder. Packages that only some programs of the documentation import are linked from the repository. */
export async function installPackages(linked: readonly string[]): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), "rondo-installed-"));
  const tarballs = await pack(join(parent, "tarballs"));
  const page = readFileSync(join(repoRoot, "docs/install.md"), "utf8");
  const lines = shellLinesIn(page).filter((line) => /^(?:mkdir|npm (?:init|pkg|install \/))/.test(line));
  const script = lines.join(" && ").replaceAll("/path/to/rondo/tarballs", tarballs);
  await run("bash", ["-c", script], { env, cwd: parent });
  const folder = join(parent, "my-agent");
  for (const name of linked) {
    const link = join(folder, "node_modules", name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(repoRoot, "node_modules", name), link);
  }
  return folder;
}

/** Runs a command line as a user would type it, with nothing to read. */
export async function type(line: string, cwd: string): Promise<Ran> {
  const child = spawn("bash", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 50_000 });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode: exitCode ?? -1, stdout, stderr };
}

/** Starts a server by a command line. */
export async function serve(line: string, cwd: string): Promise<Served> {
  const child = spawn("bash", ["-c", `exec ${line}`], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const url = / at (http:\S+)\/v1 \(/.exec(output)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    const stop = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    return { url, [Symbol.asyncDispose]: stop };
  }
  throw new Error(`${line} exited before serving: ${output}`);
}
