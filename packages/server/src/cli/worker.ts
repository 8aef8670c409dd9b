// `rondo worker`: works on the background runs of a store that servers share, and has no API.

import { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import type { ServerConfig } from "../config/schema.ts";
import { checkWorkerStore } from "../config/shared-store.ts";
import { storeLabel } from "../store/store-label.ts";
import { type CheckEndpoints, checkEndpoints } from "./check-endpoints.ts";
import type { CliIo } from "./cli-io.ts";
import { addConfigFlags, settingFlags, type TypedFlags } from "./config-flags.ts";
import { type Discover, findModels, modelsOf } from "./found-models.ts";
import { gracefulStop } from "./graceful-stop.ts";

interface RunningWorker {
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** What tests replace. */
export interface WorkerCommandOptions {
  /** Starts the worker. Default: `startWorker`. */
  readonly start?: (config: ServerConfig) => Promise<RunningWorker>;
  /** Finds model servers where the config has none. Default: the usual ports of this machine. */
  readonly discover?: Discover;
  /** Asks the model servers of the config whether they are there. */
  readonly check?: CheckEndpoints;
}

type Flags = TypedFlags & { config?: string; demo?: true };

const examples = `
Examples:
  rondo worker --store postgres://rondo@db.example.org/rondo
  rondo worker --config rondo.config.ts --concurrency 32 --health-port 4501`;

export function workerCommand(io: CliIo, options: WorkerCommandOptions = {}): Command {
  const command = new Command("worker").description(
    "Work on background runs, without an API: beside servers with the same PostgreSQL store, config and models.",
  );
  return addConfigFlags(command, "worker")
    .option("--demo", "Have the demo model too, as servers with --demo do.")
    .addHelpText("after", examples)
    .action((flags: Flags) => work(io, options, flags));
}

async function work(
  io: CliIo,
  { start = startRealWorker, discover, check = checkEndpoints }: WorkerCommandOptions,
  { config: file, demo, ...typed }: Flags,
): Promise<void> {
  const loaded = await loadConfig({ file, flags: settingFlags(typed), env: io.env, cwd: io.cwd });
  checkWorkerStore(loaded);
  const { config, warnings } = await findModels(loaded, demo === true, io.env, { check, discover });
  const stop = gracefulStop(io, config.shutdownMs, "runs that are nearly done");
  try {
    const worker = await start(config);
    const health = worker.url === undefined ? "" : `; health at ${worker.url}/readyz`;
    const write = (text: string) => (config.audit === "stdout" ? io.writeError(text) : io.write(text));
    write(
      `Rondo works on background runs for ${modelsOf(config)} (store: ${storeLabel(config.store)}; at most ${config.runs.concurrency} at once${health}).\n`,
    );
    for (const warning of warnings.values()) io.writeError(`rondo: ${warning}\n`);
    await stop.requested;
    await worker.close();
  } finally {
    stop.release();
  }
}

async function startRealWorker(config: ServerConfig): Promise<RunningWorker> {
  const { startWorker } = await import("../http/worker.ts");
  return startWorker(config, { hasWatchdog: true });
}
