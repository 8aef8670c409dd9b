// `npm run bench`: measures this project side by side with the alternatives, and writes
// docs/benchmarks.md. `--quick` takes less than three minutes; `--only library` or `--only server` measures one half, and
// `--no-peers` skips the other libraries: both then only print. `--sandbox` measures the sandbox of this machine instead,
// and writes its table in docs/sandbox.md; `--postgres` several nodes on a PostgreSQL, in docs/benchmarks-postgres.md.
// `--load-minutes 60` loads a server for an hour and prints its memory. `--compare` writes nothing, and names the rows that are more than 15 % worse than the committed figures.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureLibrary } from "../bench/library/measure-library.ts";
import { BenchDatabase } from "../bench/postgres/database.ts";
import { measureNodes } from "../bench/postgres/measure-nodes.ts";
import { startModel } from "../bench/processes.ts";
import { type Figures, worseRows } from "../bench/report/compare.ts";
import { libraryFigures, libraryReport } from "../bench/report/library-report.ts";
import { machine } from "../bench/report/machine.ts";
import { nodesReport, postgresServerReport } from "../bench/report/postgres-report.ts";
import { sandboxReport } from "../bench/report/sandbox-report.ts";
import { serverFigures, serverReport } from "../bench/report/server-report.ts";
import { measureMemoryOverTime, memoryReport } from "../bench/server/measure-memory.ts";
import { measureServer, type ServerSizes } from "../bench/server/measure-server.ts";
import { type ServerContender, sqlite, startRondo } from "../bench/server/server-contenders.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    peers: { type: "boolean", default: true },
    sandbox: { type: "boolean", default: false },
    postgres: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
    "load-minutes": { type: "string" },
  },
  allowNegative: true,
});
if (values.only !== undefined && values.only !== "library" && values.only !== "server")
  throw new Error(`--only is 'library' or 'server', not '${values.only}'.`);

const loadMinutes = values["load-minutes"];
if (loadMinutes !== undefined && !/^[1-9]\d*$/.test(loadMinutes))
  throw new Error(`--load-minutes is a whole number of minutes, at least 1, not '${loadMinutes}'.`);

const figuresFile = join(root, "bench/figures.json");
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
  // Each takes two files in the server.
  manyOpenStreams: isQuick ? 0 : Math.min(10_000, Math.floor((openFiles() - 1000) / 2)),
  storedResponses: [10, 100, 1000],
  responsesMeasured: 30,
};

const pageHead = `# Benchmarks

<!-- Written by \`npm run bench\`. Do not edit. -->

The cost of this project, side by side with the alternatives. \`npm run bench\` measures it on your machine, in one run: the contenders take turns, each in a separate process on the same Node, all with the same model server. Absolute figures depend on the machine; ratios are comparable. Each is the median of the ratios within each repetition.`;

const postgresHead = `# Benchmarks on PostgreSQL

<!-- Written by \`npm run bench -- --postgres\`. Do not edit. -->

What it costs to keep everything in PostgreSQL, and to run several nodes on it ([scaling](scaling.md)). Everything ran on one machine, in one run: nodes, clients, the model and PostgreSQL.`;

const libraryIntro = `The floor is \`fetch\` with a hand-written parser and tool loop, and is 1; the other figures are ratios to it. CPU is that of the whole process, including garbage collection and compilation, after a warm-up of one short answer and one tool call. The peers run their own agent loop, streamed; \`openai\` has none, so it gets a hand-written one.`;

const serverIntro = `The floor is a bare \`node:http\` server that converts chunks to events, and nothing else: it validates nothing, stores nothing, and runs one tool by hand. Figures without a unit are ratios to it. With the store off, requests have \`store: false\`. With SQLite everything is stored, and the CPU per chunk is that of background runs, which log every event before it is sent.`;

// Before anything is measured, which takes minutes.
const committed = values.compare ? committedFigures() : {};
build();
if (values.sandbox) {
  await benchSandbox();
  process.exit();
}
if (values.postgres) {
  await benchPostgres();
  process.exit();
}
if (loadMinutes !== undefined) {
  await benchMemory(Number(loadMinutes));
  process.exit();
}
if (values.peers && values.only !== "server") installPeers();
const facts = machine();
const start = performance.now();
using model = await startModel();
const parts: string[] = [];
let figures: Figures = {};
if (values.only !== "server") {
  const peerRounds = values.peers ? (isQuick ? 1 : rounds) : 0;
  const results = await measureLibrary({ modelUrl: model.url, rounds, peerRounds, isQuick, onProgress });
  figures = { ...figures, ...libraryFigures(results) };
  parts.push(`## The library\n\n${libraryIntro}\n\n${libraryReport(results)}`);
}
if (values.only !== "library") {
  const results = await measureServer({ modelUrl: model.url, sizes, onProgress });
  figures = { ...figures, ...serverFigures(results) };
  parts.push(`## The server\n\n${serverIntro}\n\n${serverReport(results, sizes)}`);
}
onProgress("");
const minutes = ((performance.now() - start) / 60_000).toFixed(1);
const form = isQuick
  ? "quick mode, with few repetitions"
  : `${rounds} repetitions for the library, ${sizes.rounds} for the server`;
const body = `${facts}\n- ${form}; ${minutes} minutes\n\n${parts.join("\n\n")}\n`;
console.log(body);
if (values.compare) {
  const worse = worseRows(committed, figures);
  console.log(
    worse.length === 0
      ? "No row is more than 15 % worse than the committed figures."
      : `More than 15 % worse than the committed figures${isQuick ? " (in quick mode, figures vary by that much)" : ""}:\n${worse.join("\n")}`,
  );
} else if (values.only === undefined && values.peers) {
  // In quick mode, figures vary too much to be a measure for others.
  if (!isQuick) writeFileSync(figuresFile, `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(join(root, "docs/benchmarks.md"), `${pageHead}\n\n${body}`);
  console.log("Written to docs/benchmarks.md.");
}

async function benchSandbox(): Promise<void> {
  // Node finds the built package only now.
  const { measureSandbox } = await import("../bench/sandbox/measure-sandbox.ts");
  const conditions = machine().split("\n").slice(0, 2).join("\n");
  const table = sandboxReport(await measureSandbox(50, onProgress));
  onProgress("");
  console.log(`${conditions}\n\n${table}`);
  const page = join(root, "docs/sandbox.md");
  const marked = /(<!-- bench -->\n).*(<!-- end of bench -->)/s;
  writeFileSync(page, readFileSync(page, "utf8").replace(marked, `$1\n${conditions}\n\n${table}\n\n$2`));
}

/** The memory of a server under load for so long. */
async function benchMemory(minutes: number): Promise<void> {
  using model = await startModel();
  const onMinute = (text: string) => console.log(text);
  const result = await measureMemoryOverTime({ modelUrl: model.url, minutes, onMinute });
  console.log(`${machine().split("\n").slice(0, 3).join("\n")}\n\n${memoryReport(result)}`);
}

/** PostgreSQL beside SQLite, and several nodes. */
async function benchPostgres(): Promise<void> {
  const facts = machine().split("\n").slice(0, 3).join("\n");
  const begin = performance.now();
  using model = await startModel();
  await using database = await BenchDatabase.start();
  const postgres: ServerContender = {
    name: "rondo, PostgreSQL",
    body: sqlite.body,
    streamBody: sqlite.streamBody,
    start: async (modelUrl) => startRondo(modelUrl, await database.create()),
  };
  const few = { ...sizes, rounds: isQuick ? 1 : 3, storedResponses: [], openStreams: 100 };
  const contenders = [sqlite, postgres];
  const results = await measureServer({ modelUrl: model.url, sizes: few, onProgress, contenders });
  const nodes = await measureNodes({
    database,
    modelUrl: model.url,
    onProgress,
    sizes: {
      requests: isQuick ? 1000 : 5000,
      streams: 64,
      chunks: isQuick ? 100 : 300,
      ticks: isQuick ? 100 : 300,
      followers: 1000,
    },
  });
  onProgress("");
  const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
  const form = isQuick ? "quick mode, one repetition" : `${few.rounds} repetitions`;
  const page = `${postgresHead}\n\n${facts}\n- PostgreSQL ${await database.version()}, on this machine, with its defaults for safety; ${form}; ${minutes} minutes\n\n## Beside SQLite\n\n${postgresServerReport(results)}\n\n${nodesReport(nodes)}\n`;
  console.log(page);
  writeFileSync(join(root, "docs/benchmarks-postgres.md"), page);
  console.log("Written to docs/benchmarks-postgres.md.");
}

/** The built packages are measured, as users get them. */
function build(): void {
  onProgress("building");
  const program = join(root, "scripts/build.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "packages/server"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status === 0) return;
  console.error(`${stdout}${stderr}\nThe build failed, see above.`);
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
  if (status !== 0) throw new Error(`The peers could not be installed in ${folder}; --no-peers skips them.`);
}

function committedFigures(): Figures {
  if (!existsSync(figuresFile))
    throw new Error("There is no bench/figures.json to compare with: a full `npm run bench` writes it.");
  return JSON.parse(readFileSync(figuresFile, "utf8")) as Figures;
}

/** How many files a process may have open. */
function openFiles(): number {
  const { stdout } = spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" });
  return stdout.trim() === "unlimited" ? Number.POSITIVE_INFINITY : Number(stdout);
}

function onProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text === "" ? "" : `${text} …`}`);
}
