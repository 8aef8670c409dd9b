import { describe, expect, test } from "vitest";
import type { ServerConfig } from "../config/schema.ts";
import { runCli } from "./program.ts";
import { testIo } from "./testkit/test-io.ts";
import { workerCommand } from "./worker.ts";

const password = "s%40cret%2F";
const store = `postgres://rondo:${password}@db.example.org/rondo`;
const model = ["--model-url", "http://gpu:8000/v1"];

/** Runs `worker` with one that only notes its config, until it is stopped. */
async function working(args: readonly string[], io = testIo(), url?: string) {
  const configs: ServerConfig[] = [];
  let isClosed = false;
  const start = async (config: ServerConfig) => {
    configs.push(config);
    return {
      url,
      close: async () => {
        isClosed = true;
      },
    };
  };
  const check = async (config: ServerConfig) => ({ config, warnings: new Map() });
  const done = workerCommand(io, { start, check }).parseAsync(args, { from: "user" });
  await Promise.race([io.written, done]);
  io.stop();
  await done;
  return { io, config: configs[0], isClosed };
}

test("starts a worker with the flags, says so without the password, and stops on Ctrl-C", async () => {
  const { io, config, isClosed } = await working([...model, "--store", store, "--concurrency", "3"]);
  expect(config).toMatchObject({ store, runs: { concurrency: 3, enabled: true } });
  expect(config?.healthPort).toBeUndefined();
  expect(io.out).toBe(
    "Rondo works on background runs for all models of http://gpu:8000/v1 (store: postgres://rondo@db.example.org/rondo; at most 3 at once).\n",
  );
  expect(io.out + io.err).not.toContain(password);
  expect(isClosed).toBe(true);
  expect(io.listenerCount).toBe(0);
});

test("takes the environment, and names the URL of its health", async () => {
  const io = testIo({
    env: { RONDO_STORE: store, RONDO_HEALTH_PORT: "4501", RONDO_POSTGRES_MIGRATE: "false" },
  });
  const { config } = await working(model, io, "http://127.0.0.1:4501");
  expect(config).toMatchObject({ store, healthPort: 4501, postgres: { migrate: false } });
  expect(io.out).toContain("; health at http://127.0.0.1:4501/readyz).");
});

describe("is refused", () => {
  const refused = async (...args: string[]) => {
    const io = testIo();
    expect(await runCli(args, io)).toBe(2);
    return io.err;
  };

  test("with a store of one process", async () => {
    expect(await refused("worker", ...model)).toBe(
      "rondo: The configuration cannot be used. store (not possible for a worker): sqlite:./rondo.db belongs to one process, and `rondo serve` works on its background runs itself. Name a store that servers and workers share with --store postgres://USER@HOST/DATABASE or RONDO_STORE.\n",
    );
  });

  test("as --no-worker of a server, for the same reason", async () => {
    const err = await refused("serve", ...model, "--no-worker");
    expect(err).toContain("no other process can work on the background runs of sqlite:./rondo.db");
  });

  test("with a password that is not encoded, without showing it", async () => {
    const err = await refused("worker", "--store", "postgres://rondo:hunter/2@db/rondo");
    expect(err).toContain("special characters of the password are percent-encoded");
    expect(err).not.toContain("hunter");
  });
});
