// What clients see of a server whose database is away, read-only or out of connections; and that it recovers by itself.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogger } from "../http/log.ts";
import { type RunningServer, startServer } from "../http/server.ts";
import {
  asSuperuser,
  createTestDatabase,
  type PostgresServer,
  startPostgresServer,
  testRole,
} from "../store/postgres/testkit/postgres-server.ts";
import { Gates, obedientModel } from "./testkit/nodes.ts";
import { SocketClient } from "./testkit/socket-client.ts";

const gates = new Gates();
let postgres: PostgresServer;
let server: RunningServer;
let log = "";

beforeAll(async () => {
  postgres = await startPostgresServer({ isDurable: true });
  server = await startServer(
    {
      port: 0,
      store: await createTestDatabase(postgres),
      postgres: { connections: 4 },
      models: { test: obedientModel(gates) },
      runs: { leaseMs: 2000 },
      shutdownMs: 0,
    },
    { logger: createLogger({ level: "debug", write: (lines) => (log += lines) }) },
  );
}, 60_000);
afterAll(async () => {
  await server?.close();
  await postgres?.[Symbol.asyncDispose]();
});

async function send(method: string, path: string, body?: object) {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    text: await response.text(),
  };
}

const ready = async () => (await send("GET", "/readyz")).status;
const create = (body: object) => send("POST", "/v1/responses", { model: "test", ...body });

/** Each kind of request gets a 503 with the reason, and health says the same. */
async function expectUnavailable(reason: RegExp): Promise<void> {
  expect((await send("GET", "/healthz")).status).toBe(200);
  const requests = [
    () => send("GET", "/readyz"),
    () => create({ input: "say a" }),
    () => create({ input: "say a", background: true }),
    () => create({ input: "say a", stream: true }),
    () => send("POST", "/v1/conversations", {}),
  ];
  const [health, ...replies] = await Promise.all(requests.map((request) => request()));
  expect(health).toMatchObject({ status: 503, text: expect.stringMatching(reason) });
  for (const reply of replies) {
    expect(reply).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9]$/) });
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: "store_unavailable" } });
    expect(reply.text).toMatch(reason);
    expect(reply.text).not.toContain("127.0.0.1");
  }
}

async function expectRecovery(): Promise<void> {
  await expect.poll(ready, { timeout: 15_000 }).toBe(200);
  const { status, text } = await create({ input: "say again" });
  expect(status).toBe(200);
  expect(text).toContain('"again"');
}

test("a database that stops: 503 with the reason, runs wait, and all goes on by itself", {
  timeout: 60_000,
}, async () => {
  const kept = JSON.parse((await create({ input: "say kept" })).text);
  const waiting = JSON.parse((await create({ input: "wait outage", background: true })).text);
  await gates.reached("outage");
  const followed = send("GET", `/v1/responses/${waiting.id}?stream=true`);
  const socket = await SocketClient.open(`${server.url}/v1`);
  await postgres.stop("immediate");
  const { last } = await socket.ask({ model: "test", input: "say a" });
  expect(last).toMatchObject({ type: "error", status: 503, error: { code: "store_unavailable" } });
  await expectUnavailable(/its database (cannot be reached|is starting or stopping)/);
  gates.open("outage");
  await postgres.start();
  await expectRecovery();
  // What was acknowledged is there, and the run was not lost.
  expect(JSON.parse((await send("GET", `/v1/responses/${kept.id}`)).text)).toEqual(kept);
  const status = async () =>
    JSON.parse((await send("GET", `/v1/responses/${waiting.id}`)).text).status as string;
  await expect.poll(status, { timeout: 20_000 }).toBe("completed");
  expect((await followed).text).toContain("event: response.completed");
  expect((await socket.ask({ model: "test", input: "say socket" })).last.type).toBe("response.completed");
  socket.close();
});

test("a database that is read-only, as after a wrong failover", { timeout: 60_000 }, async () => {
  const setReadOnly = (value: "on" | "off") =>
    asSuperuser(postgres, async (client) => {
      await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await client.query("SELECT pg_reload_conf()");
    });
  await setReadOnly("on");
  await expectUnavailable(/its database is read-only/);
  // Reading still works.
  expect((await send("GET", "/v1/responses?limit=1")).status).toBe(200);
  await asSuperuser(postgres, async (client) => {
    await client.query("SET default_transaction_read_only = off");
    await client.query("ALTER SYSTEM RESET default_transaction_read_only");
    await client.query("SELECT pg_reload_conf()");
  });
  await expectRecovery();
});

test("a database that accepts no more connections of this role", { timeout: 60_000 }, async () => {
  await asSuperuser(postgres, async (client) => {
    await client.query(`ALTER ROLE ${testRole.name} CONNECTION LIMIT 0`);
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [
      testRole.name,
    ]);
  });
  await expectUnavailable(/its database (has no free connection|cannot be reached)/);
  await asSuperuser(postgres, async (client) => {
    await client.query(`ALTER ROLE ${testRole.name} CONNECTION LIMIT -1`);
  });
  await expectRecovery();
});

test("no line of the log has the password", () => {
  expect(log).toContain("The server is not ready.");
  expect(log).toContain("The server is ready again.");
  for (const secret of [testRole.password, encodeURIComponent(testRole.password)])
    expect(log).not.toContain(secret);
});
