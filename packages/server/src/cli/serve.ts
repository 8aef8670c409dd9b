// `rondo serve`: reads the config, starts the server, and ends it in good order.

import { Command } from "commander";
import { labelOf } from "../config/endpoint-models.ts";
import { checkExposure, checkModels } from "../config/exposure.ts";
import { loadConfig } from "../config/load.ts";
import type { ServerConfig } from "../config/schema.ts";
import { defaultText, modelUrl, settings } from "../config/settings.ts";
import { type CliIo, exitCodes } from "./cli-io.ts";

interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server for a config. */
export type StartServer = (config: ServerConfig) => Promise<RunningServer>;

/** The command. `start` is what starts the server; tests bring their own. */
export function serveCommand(io: CliIo, start: StartServer = startHttpServer): Command {
  const command = new Command("serve").description("Serve the Responses API.");
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
    .action(({ config: file, ...flags }: Record<string, string | undefined>) =>
      serve(io, start, file, flags),
    );
}

async function serve(
  io: CliIo,
  start: StartServer,
  file: string | undefined,
  flags: Record<string, string | undefined>,
): Promise<void> {
  const config = await loadConfig({ file, flags, env: io.env, cwd: io.cwd });
  checkExposure(config);
  checkModels(config);
  const stop = stopRequest(io, config.shutdownMs);
  try {
    const server = await start(config);
    // The program that waits for this line may ask to stop as soon as it has read it.
    io.write(`${announcement(server.url, config)}\n`);
    await stop.requested;
    await server.close();
  } finally {
    stop.release();
  }
}

async function startHttpServer(config: ServerConfig): Promise<RunningServer> {
  const { startServer } = await import("../http/server.ts");
  return startServer(config);
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
  return `Rondo serves ${served.join(" and ")} at ${url}/v1 (store: ${store}; ${access}).`;
}

/** Descriptions are Markdown, and a terminal is not. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}
