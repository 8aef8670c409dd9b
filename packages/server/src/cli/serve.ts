// `rondo serve`: reads the config, starts the server, and shuts it down gracefully.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { FoundServer } from "../config/discover.ts";
import { checkExposure } from "../config/exposure.ts";
import { loadConfig } from "../config/load.ts";
import { labelOf } from "../config/models.ts";
import type { Environment } from "../config/overrides.ts";
import type { ServerConfig } from "../config/schema.ts";
import { defaultText, modelUrl, settings } from "../config/settings.ts";
import { ListenError } from "../http/listen-error.ts";
import { type CheckEndpoints, checkEndpoints } from "./check-endpoints.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";
import { configFlag } from "./flag-values.ts";
import { type Discover, fillModels, withDemo } from "./found-models.ts";
import { type CommandName, welcome } from "./welcome.ts";

interface RunningServer {
  readonly url: string;
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
  command.option(modelUrl.flag, plain(`${modelUrl.description} (${modelUrl.env})`));
  for (const setting of settings) {
    const { flag, description, env } = setting;
    if (flag === undefined) continue;
    // The default is only shown, not set: commander's would look like a given flag.
    const value = defaultText(setting);
    const byDefault = value === undefined ? "" : `; default: ${value}`;
    command.option(flag, plain(`${description} (${env}${byDefault})`));
  }
  return command
    .option(...configFlag)
    .option("--free-port", "Use another port if that one is taken.")
    .option("--demo", "Serve the demo model too: not a language model, but good for trying things out.")
    .addHelpText("after", examples)
    .action((flags: Flags) => serve(io, options, flags));
}

type Flags = Record<string, string | undefined> & { config?: string; freePort?: true; demo?: true };

const examples = `
Examples:
  rondo serve
  rondo serve --model-url http://localhost:11434/v1 --store memory
  rondo serve --config rondo.config.ts --port 8123`;

async function serve(
  io: CliIo,
  { start = startHttpServer, discover, check = checkEndpoints }: ServeOptions,
  { config: file, freePort, demo, ...flags }: Flags,
): Promise<void> {
  const loaded = await loadConfig({ file, flags, env: io.env, cwd: io.cwd });
  checkExposure(loaded);
  const { config: reached, warnings } = await check(loaded);
  const given = demo ? withDemo(reached) : reached;
  const { config, found } = await fillModels(given, environmentFor(reached, loaded, io.env), discover);
  const stop = stopRequest(io, config.shutdownMs);
  try {
    const server = await start(config).catch((error: unknown) => {
      const isTaken = error instanceof ListenError && error.code === "EADDRINUSE";
      if (freePort && isTaken) return start({ ...config, port: 0 });
      throw error;
    });
    // A program that waits for this line may ask to stop as soon as it reads it.
    const silent = found && silentUrl(given, found);
    const more = found ? `\n${welcome({ url: server.url, found, command: commandName(io), silent })}` : "";
    io.write(`${announcement(server.url, config)}\n${more}`);
    for (const [endpoint, warning] of warnings)
      if (labelOf(endpoint) !== silent) io.writeError(`rondo: ${warning}\n`);
    await stop.requested;
    await server.close();
  } finally {
    stop.release();
  }
}

/** The environment, with the path of its model server as corrected. */
function environmentFor(reached: ServerConfig, loaded: ServerConfig, env: Environment): Environment {
  const index = loaded.endpoints.findIndex(({ url }) => url === env[modelUrl.env]?.trim());
  return index < 0 ? env : { ...env, [modelUrl.env]: reached.endpoints[index]?.url };
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

/** The first signal shuts down gracefully, the second ends the process at once. */
function stopRequest(io: CliIo, shutdownMs: number): { requested: Promise<void>; release: () => void } {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  let isAsked = false;
  const release = io.onStop(() => {
    if (isAsked) {
      io.leave(exitCodes.failure);
      return;
    }
    isAsked = true;
    const seconds = shutdownMs / 1000;
    io.writeError(
      `Stopping: running requests get up to ${seconds} s. Press Ctrl-C again to leave at once.\n`,
    );
    resolve();
  });
  return { requested, release };
}

/** The line that is printed when the server listens. */
function announcement(url: string, { endpoints, models, store, auth }: ServerConfig): string {
  const names = Object.keys(models);
  const served = [
    ...(names.length === 0 ? [] : [names.join(", ")]),
    ...endpoints.map((endpoint) => `all models of ${labelOf(endpoint.url)}`),
  ];
  const access = auth === undefined ? "no key needed" : "key needed";
  return `Rondo serves ${served.join(" and ")} at ${url}/v1 (store: ${typeof store === "string" ? store : "your own"}; ${access}).`;
}

/** Descriptions are Markdown, and a terminal is not. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}
