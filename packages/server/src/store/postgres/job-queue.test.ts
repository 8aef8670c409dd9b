// What pg-boss knows of background runs: what is to be done, and what was given up.

import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Store } from "../store.ts";
import { newResponse, write } from "../testing/build.ts";
import { deadLetterQueue, jobIdOf, runsQueue } from "./job-queue.ts";
import { postgresStore } from "./open.ts";
import { emptyTables } from "./testkit/empty-tables.ts";
import { testDatabase } from "./testkit/test-database.ts";

let url: string;
let store: Store;
let client: pg.Client;
beforeAll(async () => {
  url = await testDatabase();
  store = await postgresStore({ url });
  client = new pg.Client(url);
  await client.connect();
});
afterEach(async () => {
  await emptyTables(url);
  await client.query("DELETE FROM rondo_queue.job");
});
afterAll(async () => {
  await client.end();
  await store.close();
});

async function jobs(): Promise<unknown[]> {
  const { rows } = await client.query(
    "SELECT name, state::text, data ->> 'responseId' AS id, priority FROM rondo_queue.job ORDER BY created_on, name",
  );
  return rows;
}

async function begin(id: string) {
  await store.create(newResponse(id, { status: "queued" }), "worker", 30_000);
  const [job] = await store.queue.claim("worker", { leaseMs: 30_000, limit: 1, id });
  if (!job) throw new Error("There was nothing to claim.");
  await store.commit(job, write({ update: { status: "in_progress" } }));
  return job;
}

test("a job is there with its response, and done with its end", async () => {
  const id = "resp_'\\\"$1 \u0000";
  const job = await begin(id);
  const row = { name: runsQueue, id: id.replace("\u0000", "\ufffd"), priority: 0 };
  expect(await jobs()).toEqual([{ ...row, state: "created" }]);

  await store.commit(job, write({ update: { status: "completed" } }));
  expect(await jobs()).toEqual([{ ...row, state: "completed" }]);
});

test("there is none of what is refused, of a foreground response, and of what was removed", async () => {
  await store.create(newResponse("foreground", { background: false }), "worker", 30_000);
  await begin("resp_1");
  await expect(begin("resp_1")).rejects.toMatchObject({ code: "duplicate_id" });
  expect(await jobs()).toHaveLength(1);
  await store.remove("ann", "resp_1");
  expect(await jobs()).toEqual([]);
});

test("a commit with a lost lease does not end it", async () => {
  const job = await begin("resp_1");
  await store.queue.release(job);
  await expect(store.commit(job, write({ update: { status: "completed" } }))).rejects.toMatchObject({
    code: "lost_lease",
  });
  expect(await jobs()).toMatchObject([{ state: "created" }]);
});

test("a run that was tried too often is a dead letter, with its reason", async () => {
  const job = await begin("resp_1");
  const error = { type: "server_error", code: "too_many_attempts", message: 'It\'s dead: "5".', param: null };
  await store.commit(job, write({ update: { status: "failed", error } }));

  expect(await jobs()).toMatchObject([
    { name: runsQueue, state: "failed" },
    { name: deadLetterQueue, state: "created", id: "resp_1" },
  ]);
  const { rows } = await client.query(
    "SELECT source_id, source_output FROM rondo_queue.job WHERE name = $1",
    [deadLetterQueue],
  );
  expect(rows).toEqual([{ source_id: jobIdOf("resp_1"), source_output: { reason: error.message } }]);
});

test("what is urgent is begun first, and what is not last", async () => {
  for (const tier of ["flex", "default", "priority"])
    await store.create(
      newResponse(tier, { status: "queued", request: { service_tier: tier } }),
      "worker",
      30_000,
    );
  const claimed = await store.queue.claim("worker", { leaseMs: 30_000, limit: 3, suspects: "none" });
  expect(claimed.map(({ responseId }) => responseId)).toEqual(["priority", "default", "flex"]);
  expect(await jobs()).toMatchObject([{ priority: -1 }, { priority: 0 }, { priority: 1 }]);
});
