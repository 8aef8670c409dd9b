// `npm run soak`: the long tests, then long trials of the server, with kills at random moments, 1,000 concurrent streams,
// 10,000 stored responses, and 5,000 simulated schedules of several nodes. `--kills`, `--streams`, `--responses` and
// `--simulations` change the numbers (0 skips a trial), `--no-tests` skips the tests, `--seed` repeats a trial. `--postgres`
// tries three nodes on a PostgreSQL instead, with 1,000 failures (`--failures`), and measures how long they take.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { simulate } from "../packages/server/src/simulation/testkit/simulate.ts";
import { runKillTrial } from "../packages/server/src/soak/testkit/kill-trial.ts";
import { runLoad } from "../packages/server/src/soak/testkit/load.ts";
import { NodeCluster } from "../packages/server/src/soak/testkit/node-cluster.ts";
import type { NodeProcess } from "../packages/server/src/soak/testkit/node-process.ts";
import { runNodesTrial } from "../packages/server/src/soak/testkit/nodes-trial.ts";
import { startMeasuredServer } from "../packages/server/src/soak/testkit/start-measured-server.ts";
import { runStoreTrial } from "../packages/server/src/soak/testkit/store-trial.ts";
import { startStoryModel } from "../packages/server/src/soak/testkit/story-model.ts";
import { quantile, TakeOverTrial } from "../packages/server/src/soak/testkit/take-over.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    streams: { type: "string", default: "1000" },
    responses: { type: "string", default: "10000" },
    postgres: { type: "boolean", default: false },
    failures: { type: "string", default: "1000" },
    simulations: { type: "string", default: "5000" },
    seed: { type: "string" },
    tests: { type: "boolean", default: true },
  },
  allowNegative: true,
});
const kills = wholeNumber("kills", values.kills);
const streams = wholeNumber("streams", values.streams);
const responses = wholeNumber("responses", values.responses);
const failures = wholeNumber("failures", values.failures);
const simulations = wholeNumber("simulations", values.simulations);
const seed = values.seed === undefined ? randomInt(2 ** 31) : wholeNumber("seed", values.seed);
// The kills that share one database and one set of clients, so that a failure is found soon.
const killsPerTrial = 50;
const folders = new Set<string>();
const flaws: string[] = [];

// Child processes end with this one: their pipe to it breaks, or the terminal stops them too.
process.once("SIGINT", () => process.exit(130));
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

if (values.postgres) await nodesTrials();
else {
  if (values.tests) longTests();
  if (simulations > 0) await simulationTrial();
  if (kills > 0) await killTrials();
  if (streams > 0) await loadTrial();
  if (responses > 0) await storeTrial();
}

if (flaws.length > 0) {
  console.log(`\n${flaws.length} failures (seed ${seed}):\n${flaws.slice(0, 20).join("\n")}`);
  process.exitCode = 1;
} else console.log("\nAll trials passed.");

/** The test files that `npm test` leaves out. */
function longTests(): void {
  const { status } = spawnSync("npm run test:long", { stdio: "inherit", shell: true });
  if (status !== 0) flaws.push("the long tests failed, see above");
}

async function simulationTrial(): Promise<void> {
  console.log(`${simulations} simulated schedules of three nodes, seeds from ${seed}`);
  const totals: Record<string, number> = {};
  const start = performance.now();
  for (let index = 0; index < simulations; index++) {
    const report = await simulate(seed + index);
    for (const [name, value] of Object.entries(report.figures)) totals[name] = (totals[name] ?? 0) + value;
    for (const flaw of report.flaws) flaws.push(`simulation with the seed ${seed + index}: ${flaw}`);
    if (index % 50 === 0) progress(`  ${index} schedules, ${flaws.length} failures`);
  }
  progress("");
  for (const [name, value] of Object.entries(totals)) console.log(`  ${name.padEnd(24)}${value}`);
  console.log(`  ${"seconds".padEnd(24)}${secondsSince(start)}\n`);
}

async function nodesTrials(): Promise<void> {
  console.log(`${failures} failures of three nodes and their PostgreSQL, seed ${seed}`);
  const totals: Record<string, number> = {};
  const start = performance.now();
  for (let done = 0; done < failures; done += killsPerTrial) {
    await using cluster = await NodeCluster.start();
    const report = await runNodesTrial({
      cluster,
      seed: seed + done,
      failures: Math.min(killsPerTrial, failures - done),
      onFailure: (count, runs) => progress(`  ${done + count} failures, ${runs} runs`),
    });
    flaws.push(...report.flaws);
    for (const [name, value] of Object.entries(report.figures)) totals[name] = (totals[name] ?? 0) + value;
    progress("");
    console.log(
      `  ${Math.min(done + killsPerTrial, failures)} failures, ${totals["followed"]} runs, ${flaws.length} flaws`,
    );
  }
  for (const [name, value] of Object.entries(totals)) console.log(`  ${name.padEnd(24)}${value}`);
  console.log(`  ${"seconds".padEnd(24)}${secondsSince(start)}`);
  await takeOverTimes();
}

/** How long other nodes take to go on with the runs of one that fails. */
async function takeOverTimes(): Promise<void> {
  await using cluster = await NodeCluster.start();
  const trial = new TakeOverTrial(cluster, seed);
  const measure = async (
    name: string,
    rounds: number,
    fail: (node: NodeProcess) => unknown,
    heal?: (node: NodeProcess) => void,
  ) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const runs = await trial.begin(2);
      times.push(...(await trial.takeOver(runs, async () => void (await fail(runs.node)), 60_000)));
      heal?.(runs.node);
      await Promise.all(runs.all.map((run) => trial.cancel(run)));
    }
    console.log(
      `  ${name.padEnd(24)}p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms (${times.length} runs)`,
    );
  };
  console.log("\nUntil another node goes on with a run after");
  await measure("kill -9", 20, (node) => node.kill());
  await measure("SIGTERM", 10, (node) => node.terminate());
  await measure(
    "SIGSTOP",
    3,
    (node) => node.freeze(),
    (node) => node.thaw(),
  );
  await measure(
    "cut off",
    3,
    (node) => node.proxy.silence(),
    (node) => node.proxy.heal(),
  );
  const cancels: number[] = [];
  for (let round = 0; round < 5; round++) {
    const { all } = await trial.begin(2);
    for (const run of all) cancels.push(await trial.cancel(run));
  }
  console.log(
    `  a cancel on another node: p50 ${quantile(cancels, 0.5).toFixed(0)} ms, p99 ${quantile(cancels, 0.99).toFixed(0)} ms`,
  );
}

async function killTrials(): Promise<void> {
  console.log(`${kills} kills, seed ${seed}`);
  const totals: Record<string, number> = {};
  const start = performance.now();
  for (let done = 0; done < kills; done += killsPerTrial) {
    const report = await runKillTrial({
      folder: newFolder(),
      seed: seed + done,
      kills: Math.min(killsPerTrial, kills - done),
      onKill: (count, runs) => progress(`  ${done + count} kills, ${(totals["followed"] ?? 0) + runs} runs`),
    });
    flaws.push(...report.flaws);
    for (const [name, value] of Object.entries(report.figures)) totals[name] = (totals[name] ?? 0) + value;
    progress("");
    console.log(`  ${totals["kills"]} kills, ${totals["followed"]} runs, ${flaws.length} failures`);
  }
  for (const [name, value] of Object.entries(totals)) console.log(`  ${name.padEnd(24)}${value}`);
  console.log(`  ${"seconds".padEnd(24)}${secondsSince(start)}`);
}

async function loadTrial(): Promise<void> {
  console.log(`\n${streams} concurrent streams`);
  await using model = await startStoryModel();
  await using server = await startMeasuredServer({ folder: newFolder(), modelUrl: model.url });
  const round = async (whileOpen?: () => Promise<void>) => {
    const start = performance.now();
    const report = await runLoad({
      url: server.url,
      model,
      count: streams,
      ...(whileOpen && { whileOpen }),
    });
    flaws.push(...report.flaws);
    const seconds = Number(secondsSince(start));
    console.log(
      `  ${report.events} events in ${seconds} s: ${Math.round(report.events / seconds)} per second`,
    );
  };
  await round();
  await round();
  const before = await server.measure();
  await round(async () => {
    const open = await server.measure();
    const kilobytes = (open.usedBytes - before.usedBytes) / streams / 1000;
    console.log(`  ${kilobytes.toFixed(1)} kB of memory per open stream`);
  });
  await round();
  const after = await server.measure();
  const growth = (after.usedBytes - before.usedBytes) / streams / 2;
  console.log(
    `  memory: ${megabytes(before.usedBytes)} before, ${megabytes(after.usedBytes)} after two rounds`,
  );
  if (growth > 2000) flaws.push(`each stream leaked ${Math.round(growth)} bytes`);
}

async function storeTrial(): Promise<void> {
  console.log(`\n${responses} stored responses`);
  await using model = await startStoryModel();
  await using server = await startMeasuredServer({ folder: newFolder(), modelUrl: model.url });
  const found = await runStoreTrial({
    url: server.url,
    count: responses,
    chain: Math.min(1000, responses),
    onStep: (what, count, seconds) =>
      console.log(`  ${count} ${what} in ${seconds.toFixed(1)} s: ${Math.round(count / seconds)} per second`),
  });
  flaws.push(...found);
  const { usedBytes, residentBytes } = await server.measure();
  console.log(`  memory: ${megabytes(usedBytes)} used, ${megabytes(residentBytes)} resident`);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rondo-soak-"));
  folders.add(folder);
  return folder;
}

/** A progress line, on terminals only. */
function progress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is '${text}', but must be a whole number.`);
  return Number(text);
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(1);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
