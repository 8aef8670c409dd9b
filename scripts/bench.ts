// Measures this project side by side with what a user would pick instead, behind `npm run bench`, and writes
// docs/benchmarks.md. `--quick` takes less than three minutes; `--only library` or `--only server` measures a half, and
// `--no-peers` leaves the other libraries out: both then only print.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureLibrary } from "../bench/library/measure-library.ts";
import { startModel } from "../bench/processes.ts";
import { libraryReport } from "../bench/report/library-report.ts";
import { machine } from "../bench/report/machine.ts";
import { serverReport } from "../bench/report/server-report.ts";
import { measureServer, type ServerSizes } from "../bench/server/measure-server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    peers: { type: "boolean", default: true },
  },
  allowNegative: true,
});
if (values.only !== undefined && values.only !== "library" && values.only !== "server")
  throw new Error(`--only is 'library' or 'server', not '${values.only}'.`);

const isQuick = values.quick;
const rounds = isQuick ? 3 : 7;
const sizes: ServerSizes = {
  rounds: isQuick ? 1 : 5,
  streams: 64,
  chunksPerStream: isQuick ? 300 : 600,
  connections: 64,
  requests: isQuick ? 3000 : 10_000,
  firstTokens: isQuick ? 100 : 300,
  openStreams: 1000,
  storedTurns: [10, 100, 1000],
  turnsMeasured: 30,
};

const pageHead = `# Benchmarks

<!-- Written by \`npm run bench\`. Do not edit. -->

What this project costs, beside what you could use instead. \`npm run bench\` measures it on your machine: everything in one run, the contenders by turns, each in a process of its own on the same Node, all against the same model server. Absolute figures say little about another machine; the ratios do. Each is the median of the ratios of the single rounds.`;

const libraryIntro = `The floor is \`fetch\` with a parser and a tool loop by hand, and is 1; the other figures are ratios to it. CPU is that of the whole process, garbage collection and compilation included, after one short answer and one tool call that are not counted. The peers run their own agent loop, streamed; \`openai\` has none, so it gets one by hand.`;

const serverIntro = `The floor is a bare \`node:http\` server that turns chunks into events by hand, and does nothing else: it checks nothing, keeps nothing and has no tools. Figures without a unit are ratios to it. With the store off requests say \`store: false\`. With SQLite all is kept, and what is streamed for the CPU per chunk are background runs, which log every event before it is sent.`;

build();
if (values.peers && values.only !== "server") installPeers();
const facts = machine();
const start = performance.now();
using model = await startModel();
const parts: string[] = [];
if (values.only !== "server") {
  const peerRounds = values.peers ? (isQuick ? 1 : rounds) : 0;
  const results = await measureLibrary({ modelUrl: model.url, rounds, peerRounds, isQuick, onProgress });
  parts.push(`## The library\n\n${libraryIntro}\n\n${libraryReport(results)}`);
}
if (values.only !== "library") {
  const results = await measureServer({ modelUrl: model.url, sizes, onProgress });
  parts.push(`## The server\n\n${serverIntro}\n\n${serverReport(results, sizes)}`);
}
onProgress("");
const minutes = ((performance.now() - start) / 60_000).toFixed(1);
const form = isQuick
  ? "the quick form, with few rounds"
  : `${rounds} rounds for the library, ${sizes.rounds} for the server`;
const body = `${facts}\n- ${form}; ${minutes} minutes\n\n${parts.join("\n\n")}\n`;
console.log(body);
if (values.only === undefined && values.peers) {
  writeFileSync(join(root, "docs/benchmarks.md"), `${pageHead}\n\n${body}`);
  console.log("Written to docs/benchmarks.md.");
}

/** What is measured is what users get. */
function build(): void {
  onProgress("building");
  const program = join(root, "scripts/build.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "packages/server"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status === 0) return;
  console.error(`${stdout}${stderr}\nThe build has failed, see above.`);
  process.exit(1);
}

function installPeers(): void {
  const folder = join(root, "bench/peers");
  if (existsSync(join(folder, "node_modules"))) return;
  onProgress("installing the peers");
  const { status } = spawnSync("npm ci --ignore-scripts --no-audit --no-fund --loglevel=error", {
    cwd: folder,
    shell: true,
    stdio: "inherit",
  });
  if (status !== 0)
    throw new Error(`The peers could not be installed in ${folder}; --no-peers leaves them out.`);
}

function onProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text === "" ? "" : `${text} …`}`);
}
