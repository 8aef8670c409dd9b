// `rondo serve`: reads the config, starts the server, and shuts it down gracefully.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { FoundServer } from "../config/discover.ts";
import { labelOf } from "../config/endpoint.ts";
import { checkExposure } from "../config/exposure.ts";
import { loadConfig } from "../config/load.ts";
import type { ServerConfig } from "../config/schema.ts";
import { checkRunsElsewhere } from "../config/shared-store.ts";
import { ListenError } from "../http/listen-error.ts";
import type { RunningServer as HttpServer } from "../http/server.ts";
import { storeLabel } from "../store/store-label.ts";
import { type CheckEndpoints, checkEndpoints } from "./check-endpoints.ts";
import type { CliIo } from "./cli-io.ts";
import { addConfigFlags, settingFlags, type TypedFlags } from "./config-flags.ts";
import { type Discover, findModels, modelsOf } from "./found-models.ts";
import { gracefulStop } from "./graceful-stop.ts";
import { type CommandName, welcome } from "./welcome.ts";

interface RunningServer {
  readonly url: string;
  /** Whether code can be run. Default: nothing is said about it. */
  sandbox?: HttpServer["sandbox"];
  close(): Promise<void>;
}

/** Starts a server for a config. */
export type StartServer = (config: ServerConfig) => Promise<RunningServer>;

export interface ServeOptions {
  /** Starts the server. Default: `startServer`. */
  readonly start?: StartServer;
  /** Finds model servers where the config has none. Default: the usual ports of this machine. */
  readonly discover?: Discover;
  /** Asks the model servers of the config whether they are there. */
  readonly check?: CheckEndpoints;
}

export function serveCommand(io: CliIo, options: ServeOptions = {}): Command {
  const command = new Command("serve").description(
    "Serve the Responses API. Without a config and --model-url, serves the models of this machine.",
  );
  return addConfigFlags(command, "serve")
    .option("--free-port", "Use another port if that one is taken.")
    .option("--demo", "Serve the demo model too: not a language model, but good for trying things out.")
    .addHelpText("after", examples)
    .action((flags: Flags) => serve(io, options, flags));
}

type Flags = TypedFlags & { config?: string; freePort?: true; demo?: true };

const examples = `
Examples:
  rondo serve
  rondo serve --model-url http://localhost:11434/v1 --store memory
  rondo serve --config rondo.config.ts --port 8123
  rondo serve --store postgres://rondo@db.example.org/rondo`;

async function serve(
  io: CliIo,
  { start = startHttpServer, discover, check = checkEndpoints }: ServeOptions,
  { config: file, freePort, demo, ...typed }: Flags,
): Promise<void> {
  const loaded = await loadConfig({ file, flags: settingFlags(typed), env: io.env, cwd: io.cwd });
  checkExposure(loaded);
  checkRunsElsewhere(loaded);
  const { config, given, found, warnings } = await findModels(loaded, demo === true, io.env, {
    check,
    discover,
  });
  const stop = gracefulStop(io, config.shutdownMs);
  try {
    const server = await start(config).catch((error: unknown) => {
      const isTaken = error instanceof ListenError && error.code === "EADDRINUSE";
      if (freePort && isTaken) return start({ ...config, port: 0 });
      throw error;
    });
    // A program that waits for this line may ask to stop as soon as it reads it.
    const silent = found && silentUrl(given, found);
    const { url } = server;
    const more = found
      ? `\n${welcome({ url, hasConsole: config.console, found, command: commandName(io), silent })}`
      : "";
    // Where the audit log goes, there is nothing else.
    const write = (text: string) => (config.audit === "stdout" ? io.writeError(text) : io.write(text));
    write(`${announcement(url, config)}\n${more}`);
    for (const [endpoint, warning] of warnings)
      if (labelOf(endpoint) !== silent) io.writeError(`rondo: ${warning}\n`);
    // Trying it takes a moment of the processor: only where somebody reads the welcome, or asked for a sandbox.
    if (found || isSandboxWanted(config)) void announceSandbox(io, server, config);
    await stop.requested;
    await server.close();
  } finally {
    stop.release();
  }
}

/** Whether the config names a tier. */
function isSandboxWanted({ sandbox: { kind } }: ServerConfig): boolean {
  return kind !== "auto" && kind !== "none";
}

/** Says that code can be run, and where somebody wants it, that it cannot. After the rest: it takes a moment to try. */
async function announceSandbox(io: CliIo, server: RunningServer, config: ServerConfig): Promise<void> {
  try {
    const state = await server.sandbox?.();
    if (state?.isOn)
      // Not to the standard output: who only waited for the first lines may have closed it, and that would end the server.
      io.writeError(
        `rondo: code of models runs in the sandbox '${state.kind}' (${state.language}): the tools code_interpreter and shell.\n`,
      );
    else if (state && isSandboxWanted(config)) io.writeError(`rondo: ${state.reason}\n`);
  } catch (error) {
    io.writeError(`rondo: the sandbox could not be tried: ${String(error)}\n`);
  }
}

/** The server that the environment names, if it lists no models. */
function silentUrl({ endpoints: [named] }: ServerConfig, found: readonly FoundServer[]): string | undefined {
  const answers = found.some(({ url, models }) => url === named?.url && models.length > 0);
  return named && !answers ? labelOf(named.url) : undefined;
}

/** In a clone the command is linked; elsewhere it comes from the package. */
function commandName({ cwd }: CliIo): CommandName {
  return existsSync(join(cwd, "node_modules/.bin/rondo")) ? "npx rondo" : "npx @rondo/server";
}

async function startHttpServer(config: ServerConfig): Promise<RunningServer> {
  const { startServer } = await import("../http/server.ts");
  return startServer(config, { hasWatchdog: true });
}

/** The line that is printed when the server listens. */
function announcement(url: string, config: ServerConfig): string {
  const { store, auth, runs } = config;
  const access = auth === undefined ? "no key needed" : "key needed";
  const elsewhere = runs.enabled ? "" : "; background runs: elsewhere";
  return `Rondo serves ${modelsOf(config)} at ${url}/v1 (store: ${storeLabel(store)}; ${access}${elsewhere}).`;
}
