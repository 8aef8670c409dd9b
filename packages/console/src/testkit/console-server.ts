// A real server with the built console, on a free port of loopback.

import { type ConfigInput, type RunningServer, startServer } from "@rondo/server";
import { demoModel } from "rondo/demo";
import { buildConsole } from "../../build.ts";

/** Builds the console if it changed, and starts a server: with the demo model unless the config has others. */
export async function startConsole(config: ConfigInput = {}): Promise<RunningServer> {
  await buildConsole();
  const input = { port: 0, store: "memory", models: { demo: demoModel() }, ...config } as const;
  return startServer(input, { logger: silent });
}

// The console shows the lines all the same.
const silent = { debug() {}, info() {}, warn() {}, error() {} };
