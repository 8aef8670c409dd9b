// Nodes of the version before go on while a newer one has changed the tables.

import { createHash } from "node:crypto";
import pg from "pg";
import { expect, test } from "vitest";
import { encodeNew, encodeWrite } from "../encode.ts";
import type { Lease } from "../run-queue.ts";
import type { NewResponse, RunWrite } from "../store.ts";
import { newResponse, write } from "../testing/build.ts";
import { commitCall, createCall } from "./calls.ts";
import { postgresStore } from "./open.ts";
import { functions } from "./sql/run-functions.ts";
import { tables } from "./sql/tables.ts";
import { testDatabase } from "./testkit/test-database.ts";

/** A node that knows only the first version. */
async function olderNode(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  let count = 0;
  const call = async (op: object, name = "write_v1") => {
    const ops = JSON.stringify([{ token: `old:${++count}`, isRetry: false, ...op }]);
    const { rows } = await client.query<{ results: unknown[] }>(
      `SELECT rondo.${name}($1::jsonb, true, NULL) AS results`,
      [ops],
    );
    return rows[0]?.results[0];
  };
  const holder = { worker: "old", node: undefined, leaseMs: 30_000 };
  return {
    client,
    call,
    async create(response: NewResponse): Promise<Lease> {
      const op = createCall(encodeNew(response), holder, { job: undefined, priority: 0 });
      const { fence } = (await call(op)) as { fence: number };
      return { responseId: response.id, fence };
    },
    commit: (lease: Lease, given: Partial<RunWrite>) =>
      call(commitCall(lease, encodeWrite(write(given)), undefined)),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

test("a released version of the tables and functions does not change", () => {
  const sql = `${tables("s")}\n${functions("s")}`;
  expect(createHash("sha256").update(sql).digest("hex")).toBe(
    "3ee8345ec2c1c37f5f97dd76359e8831a2641b7e503c2f2610720d7c2541a629",
  );
});

test("responses of older nodes get their threads, and older nodes go on", async () => {
  const url = await testDatabase();
  await using old = await olderNode(url);
  await old.client.query(
    `CREATE SCHEMA rondo; CREATE TABLE rondo.schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
     ${tables("rondo")} ${functions("rondo")} INSERT INTO rondo.schema_versions (version) VALUES (1)`,
  );
  const head = { owner: "ann", createdAtMs: 1, metadata: "{}", items: [], isInvalid: false };
  await old.call({ call: "createConversation", id: "conv_1", ...head });
  const conversation = { id: "conv_1", mustBeFree: false };
  for (const [id, given] of Object.entries<Partial<NewResponse>>({
    r0: {},
    r1: { previousResponseId: "r0" },
    r2: { previousResponseId: "r1" },
    r3: { status: "queued", conversation },
    r4: { status: "queued", conversation },
    r5: { previousResponseId: "gone" },
  }))
    await old.create(newResponse(id, given));

  const store = await postgresStore({ url });
  try {
    const late = await old.create(newResponse("r6", { previousResponseId: "r2" }));
    expect(await old.commit(late, { update: { status: "completed" } })).toEqual({ hasJob: true });
    await store.create(newResponse("r7", { previousResponseId: "r2", title: "New" }), "new", 30_000);
    const list = async (options: object) =>
      (await store.listRuns("ann", { limit: 100, order: "asc", ...options })).data;
    expect((await list({})).map(({ id, threadId }) => `${id} ${threadId}`)).toEqual([
      "r0 r0",
      "r1 r0",
      "r2 r0",
      "r3 conv_1",
      "r4 conv_1",
      "r5 gone",
      "r6 r2", // an older node does not know the thread
      "r7 r0",
    ]);
    expect((await list({ onlyRoots: true })).map(({ id }) => id)).toEqual(["r0", "r3", "r5"]);

    const lease = await store.create(newResponse("r8"), "new", 30_000);
    const trace = { first: 0, last: 0, lines: "{}" };
    // Sent twice, as after a lost answer: written once.
    const op = { ...commitCall(lease, encodeWrite(write({ trace })), undefined), token: "same" };
    for (const isRetry of [false, true]) await old.call({ ...op, isRetry }, "write_v2");
    expect(await store.trace("ann", "r8", -1)).toEqual([trace]);
    expect(await old.call({ call: "remove", id: "r8", owner: "ann" })).toMatchObject({ isRemoved: true });
    expect((await old.client.query("SELECT * FROM rondo.traces")).rows).toEqual([]);
  } finally {
    await store.close();
  }
});
