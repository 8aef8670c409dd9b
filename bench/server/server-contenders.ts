// The servers that are measured, and how to call each.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFlags } from "../../packages/server/src/cli/v8-flags.ts";
import { pathOf, type ServerProcess, startServer } from "../processes.ts";
import type { Body } from "./load-messages.ts";

export type ServerName = "floor" | "rondo, store off" | "rondo, SQLite" | "rondo, PostgreSQL";

export interface ServerContender {
  readonly name: ServerName;
  /** Added to the body of each request. */
  readonly body: Body;
  /** The same for streams. */
  readonly streamBody: Body;
  start(modelUrl: string): Promise<ServerProcess>;
}

export const floor: ServerContender = {
  name: "floor",
  body: {},
  streamBody: { stream: true },
  start: (modelUrl) => startServer([pathOf("server/floor.mjs"), modelUrl]),
};

export const storeOff: ServerContender = {
  name: "rondo, store off",
  body: { store: false },
  streamBody: { store: false, stream: true },
  start: (modelUrl) => startRondo(modelUrl, "memory"),
};

export const sqlite: ServerContender = {
  name: "rondo, SQLite",
  body: { store: true },
  // Only background runs log every event.
  streamBody: { store: true, stream: true, background: true },
  async start(modelUrl) {
    const folder = mkdtempSync(join(tmpdir(), "rondo-bench-"));
    const server = await startRondo(modelUrl, `sqlite:${join(folder, "bench.db")}`);
    return {
      ...server,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

export const serverContenders: readonly ServerContender[] = [floor, storeOff, sqlite];

const { bin } = JSON.parse(readFileSync(pathOf("../packages/server/package.json"), "utf8")) as {
  bin: { rondo: string };
};

/** The built command; with as many concurrent background runs as there are streams. */
export function startRondo(
  modelUrl: string,
  store: string,
  more: readonly string[] = [],
): Promise<ServerProcess> {
  const flags = [
    "--config",
    pathOf("server/rondo.config.mjs"),
    "--model-url",
    modelUrl,
    "--store",
    store,
    "--port",
    "0",
    "--log",
    "warn",
    ...more,
  ];
  // The command restarts itself with these flags, but not under a parent that talks to it.
  return startServer([...startFlags, pathOf(`../packages/server/${bin.rondo}`), "serve", ...flags], {
    RONDO_RUNS_CONCURRENCY: "64",
  });
}
