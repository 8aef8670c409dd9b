// What a database that fails is for its nodes. It is a server of its own, which the test stops.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { events, newResponse, write } from "../testing/build.ts";
import { postgresStore } from "./open.ts";
import {
  asSuperuser,
  createTestDatabase,
  databaseUrl,
  type PostgresServer,
  startPostgresServer,
  testRole,
} from "./testkit/postgres-server.ts";

let server: PostgresServer;
let url: string;
let store: Store;
beforeAll(async () => {
  server = await startPostgresServer();
  url = await createTestDatabase(server);
  store = await postgresStore({ url });
});
afterAll(async () => {
  await store.close();
  await server[Symbol.asyncDispose]();
});

/** Ends all sessions of the nodes, as a failover does. */
const cut = () =>
  asSuperuser(server, (client) =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [
      testRole.name,
    ]),
  );

test("a run goes on after a restart, and loses and repeats nothing", async () => {
  const lease = await store.create(newResponse("resp_1"), "worker", 60_000);
  await store.commit(lease, write({ events: events(0, 0), isDurable: true }));
  await server.stop();
  const waiting = store.commit(lease, write({ events: events(1, 1), isDurable: true }));
  await server.start();
  await waiting;
  await store.commit(lease, write({ events: events(2, 2), isDurable: true }));
  expect(await store.events("ann", "resp_1", -1, 10)).toEqual(events(0, 2));
});

test("commits whose sessions are ended at any moment are done once", async () => {
  // Nobody renews this lease when its session has ended: a beat of any node of the database would end it then.
  const node = await postgresStore({ url: await createTestDatabase(server), beatMs: 60_000 });
  const lease = await node.create(newResponse("resp_2"), "worker", 60_000);
  const written = new AbortController();
  const cuts = (async () => {
    for (let count = 0; count < 8 || !written.signal.aborted; count += 1) await cut();
  })();
  for (let sequence = 0; sequence < 60; sequence += 1)
    await node.commit(lease, write({ events: events(sequence, sequence), isDurable: sequence % 2 === 0 }));
  written.abort();
  await cuts;
  expect(await node.events("ann", "resp_2", -1, 100)).toEqual(events(0, 59));
  await node.close();
});

describe("a database that is away", () => {
  test("is said to be, without the password, and used again when it is back", async () => {
    await server.stop("immediate");
    const failures = await Promise.all(
      [store.get("ann", "resp_1"), store.create(newResponse("resp_3"), "worker", 1000), store.check()].map(
        (call) =>
          call.then(
            () => undefined,
            (error: unknown) => error,
          ),
      ),
    );
    for (const error of failures) {
      expect(error).toMatchObject({ code: "unavailable", fault: "unreachable" });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("p@ss");
      expect(String(error)).not.toContain(encodeURIComponent(testRole.password));
    }
    await server.start();
    expect(await store.get("ann", "resp_1")).toBeDefined();
    await store.check();
  });

  test("is refused at the start, with what to do", async () => {
    const wrong = databaseUrl(server.port, "nowhere");
    await expect(postgresStore({ url: wrong })).rejects.toThrow(/does not exist. Create it/);
    const denied = url.replace(/:[^:@]+@/, ":wrong@");
    await expect(postgresStore({ url: denied })).rejects.toMatchObject({
      code: "unavailable",
      fault: "denied",
    });
  });

  test("is unavailable while it is read-only, as a standby is", async () => {
    const readOnly = (value: string) =>
      asSuperuser(server, (client) =>
        client.query(`ALTER ROLE ${testRole.name} SET default_transaction_read_only = ${value}`),
      );
    await readOnly("on");
    await cut();
    await expect(store.check()).rejects.toMatchObject({ code: "unavailable", fault: "read_only" });
    expect(await store.get("ann", "resp_1")).toBeDefined();
    await readOnly("off");
    await cut();
    await store.check();
  });
});

test("a schema that is newer than the program is refused, and one that must not be migrated", async () => {
  const other = await createTestDatabase(server);
  await expect(postgresStore({ url: other, migrate: false })).rejects.toThrow(/Run "rondo migrate" first/);
  await (await postgresStore({ url: other })).close();
  await asSuperuser(
    server,
    (client) => client.query("INSERT INTO rondo.schema_versions (version) VALUES (1000)"),
    new URL(other).pathname.slice(1),
  );
  await expect(postgresStore({ url: other })).rejects.toMatchObject({ code: "unknown_version" });
});

test("a node that the others do not know claims nothing until they do", async () => {
  const node = await postgresStore({ url, beatMs: 100, deadAfterMs: 1000 });
  const claim = () => node.queue.claim("worker", { leaseMs: 60_000, limit: 1, id: "resp_unknown" });
  try {
    await node.create(newResponse("resp_unknown", { status: "queued" }), "worker", 60_000);
    // Its other connections work, but its session cannot begin again.
    await asSuperuser(server, async (client) => {
      await client.query(`ALTER ROLE ${testRole.name} CONNECTION LIMIT 0`);
      await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND query ~ 'beat_v1|SET application_name'",
        [testRole.name],
      );
    });
    await expect.poll(() => node.queue.isCutOff?.()).toBe(true);
    expect(await claim()).toEqual([]);
    await asSuperuser(server, (client) => client.query(`ALTER ROLE ${testRole.name} CONNECTION LIMIT -1`));
    await expect.poll(claim, { timeout: 20_000 }).toHaveLength(1);
  } finally {
    await node.close();
  }
});
