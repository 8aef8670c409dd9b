// `rondo serve`: reads the config, starts the server, and ends it in good order.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { Found } from "../config/discover.ts";
import { checkExposure } from "../config/exposure.ts";
import { loadConfig } from "../config/load.ts";
import { labelOf } from "../config/models.ts";
import type { ServerConfig } from "../config/schema.ts";
import { defaultText, modelUrl, settings } from "../config/settings.ts";
import { ListenError } from "../http/listen-error.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";
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
}

export function serveCommand(io: CliIo, options: ServeOptions = {}): Command {
  const command = new Command("serve").description(
    "Serve the Responses API. Without a config and --model-url, serves the models of this machine.",
  );
  command.option(modelUrl.flag, plain(`${modelUrl.description} (${modelUrl.env})`));
  for (const setting of settings) {
    const { flag, description, env } = setting;
    if (flag === undefined) continue;
    // The default is only told, not set: commander's would look like a flag that was given.
    const value = defaultText(setting);
    const byDefault = value === undefined ? "" : `; default: ${value}`;
    command.option(flag, plain(`${description} (${env}${byDefault})`));
  }
  return command
    .option(
      "--config <file>",
      "The config file; else rondo.config.ts or rondo.yaml of this folder, if there.",
    )
    .option("--free-port", "Takes another port if that one is in use.")
    .option("--demo", "Serves the demo model too: no language model, but something to try things with.")
    .addHelpText("after", examples)
    .action(({ config: file, freePort, demo, ...flags }: Flags) =>
      serve(io, options, { file, flags, mayMove: freePort === true, hasDemo: demo === true }),
    );
}

type Flags = Record<string, string | undefined> & { config?: string; freePort?: true; demo?: true };

const examples = `
Examples:
  rondo serve
  rondo serve --model-url http://localhost:11434/v1 --store memory
  rondo serve --config rondo.config.ts --port 8123`;

interface Wanted {
  readonly file: string | undefined;
  readonly flags: Record<string, string | undefined>;
  readonly mayMove: boolean;
  readonly hasDemo: boolean;
}

async function serve(
  io: CliIo,
  { start = startHttpServer, discover }: ServeOptions,
  { file, flags, mayMove, hasDemo }: Wanted,
): Promise<void> {
  const loaded = await loadConfig({ file, flags, env: io.env, cwd: io.cwd });
  checkExposure(loaded);
  const given = hasDemo ? withDemo(loaded) : loaded;
  const { config, found } = await fillModels(given, io.env, discover);
  const stop = stopRequest(io, config.shutdownMs);
  try {
    const server = await start(config).catch((error: unknown) => {
      const isTaken = error instanceof ListenError && error.code === "EADDRINUSE";
      if (mayMove && isTaken) return start({ ...config, port: 0 });
      throw error;
    });
    // The program that waits for this line may ask to stop as soon as it has read it.
    const more = found
      ? `\n${welcome({ url: server.url, found, command: commandName(io), silent: silentUrl(given, found) })}`
      : "";
    io.write(`${announcement(server.url, config)}\n${more}`);
    await stop.requested;
    await server.close();
  } finally {
    stop.release();
  }
}

/** The server that the environment names, if it has not shown any models. */
function silentUrl({ endpoints: [named] }: ServerConfig, found: readonly Found[]): string | undefined {
  const answers = found.some(({ url, models }) => url === named?.url && models.length > 0);
  return named && !answers ? labelOf(named.url) : undefined;
}

/** In a clone the command is linked; elsewhere it comes with the package. */
function commandName({ cwd }: CliIo): CommandName {
  return existsSync(join(cwd, "node_modules/.bin/rondo")) ? "npx rondo" : "npx @rondo/server";
}

async function startHttpServer(config: ServerConfig): Promise<RunningServer> {
  const { startServer } = await import("../http/server.ts");
  return startServer(config, { hasWatchdog: true });
}

/** The first wish to end is one in good order, the second is meant at once. */
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

/** One line with what people need to know. */
function announcement(url: string, { endpoints, models, store, auth }: ServerConfig): string {
  const names = Object.keys(models);
  const served = [
    ...(names.length === 0 ? [] : [names.join(", ")]),
    ...endpoints.map((endpoint) => `all models of ${labelOf(endpoint.url)}`),
  ];
  const access = auth === undefined ? "no key needed" : "key needed";
  return `Rondo serves ${served.join(" and ")} at ${url}/v1 (store: ${typeof store === "string" ? store : "of the config"}; ${access}).`;
}

/** Descriptions are Markdown, and a terminal is not. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}
