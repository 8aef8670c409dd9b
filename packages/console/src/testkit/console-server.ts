// A real server with the built console, on a free port of loopback.

import { type ConfigInput, type RunningServer, startServer } from "@rondo/server";
import { demoModel } from "rondo/demo";
import { buildConsole } from "../../build.ts";

/** Builds the console if it changed, and starts a server: with the demo model unless the config has others. */
export async function startConsole(config: ConfigInput = {}): Promise<RunningServer> {
  await buildConsole();
  return startServer({
    port: 0,
    store: "memory",
    log: { level: "silent" },
    models: { demo: demoModel() },
    ...config,
  });
}
