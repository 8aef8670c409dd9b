// The doctor looks at a real PostgreSQL.

import { expect, test } from "vitest";
import { openStore } from "../../store/open-store.ts";
import { asSuperuser, testRole } from "../../store/postgres/testkit/postgres-server.ts";
import { sharedPostgres, testDatabase } from "../../store/postgres/testkit/test-database.ts";
import { newResponse, write } from "../../store/testing/build.ts";
import { reportOf, runDoctor } from "./testkit/doctor.ts";

const encoded = encodeURIComponent(testRole.password);

test("--store with a URL checks the database, and shows no password", async () => {
  const url = await testDatabase();
  const before = await runDoctor(["--store", url]);
  expect(before.out).toContain("there are no tables in the schema");
  expect(before.exitCode).toBe(0);
  const store = await openStore(url);
  try {
    await store.create(newResponse("resp_waits", { status: "queued", createdAtMs: Date.now() }), "w", 30_000);
    const lease = await store.create(newResponse("resp_dead"), "w", 30_000);
    const error = {
      type: "server_error",
      code: "too_many_attempts",
      message: "The server died 5 times.",
      param: null,
    };
    await store.commit(lease, write({ update: { status: "failed", completedAtMs: Date.now(), error } }));
    const { out, exitCode } = await runDoctor(["--store"], { env: { RONDO_STORE: url } });
    expect(exitCode).toBe(0);
    for (const line of [
      `is reached as the role ${testRole.name}, without TLS`,
      "✓ PostgreSQL 1",
      "✓ the role has the rights that it needs, and is not a superuser",
      "✓ LISTEN works",
      "✓ the clocks of this machine and the database differ by",
      "✓ its tables have version",
      "connections are in use; a server takes up to 12",
      "✓ 1 runs wait",
      "resp_dead (ann, small, ",
      "The server died 5 times.",
      "→ Each has ended the process that worked on it",
      "✓ The store can be used.",
    ])
      expect(out).toContain(line);
    for (const text of [out, before.out]) {
      expect(text).not.toContain(testRole.password);
      expect(text).not.toContain(encoded);
    }
  } finally {
    await store.close();
  }
});

test("says what is wrong: the password, the database, rights, and a database that can only be read", async () => {
  const url = await testDatabase();
  const codes = async (store: string) => {
    const { report, exitCode } = await reportOf(["--store", store]);
    expect(exitCode).toBe(1);
    expect(JSON.stringify(report)).not.toContain(encoded);
    return report.installed.filter(({ status }) => status === "failed");
  };
  const wrong = url.replace(encoded, "wrong");
  expect(await codes(wrong)).toMatchObject([
    { message: expect.stringContaining("Check the user and the password") },
  ]);
  expect(await codes(`${url}_gone`)).toMatchObject([{ message: expect.stringContaining("does not exist") }]);
  expect(await codes("postgres://a:b@127.0.0.1:9/x")).toMatchObject([{ code: "unreachable" }]);
  const address = await sharedPostgres();
  const name = new URL(url).pathname.slice(1);
  await asSuperuser(address, async (client) => {
    await client.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  });
  expect(await codes(url)).toMatchObject([{ code: "read_only" }]);
  await asSuperuser(address, async (client) => {
    await client.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await client.query(`ALTER DATABASE ${name} OWNER TO postgres`);
  });
  expect(await codes(url)).toMatchObject([{ code: "may_not_create" }]);
});
