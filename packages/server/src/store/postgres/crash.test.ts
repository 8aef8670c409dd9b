// The database's machine loses its power. What was seen before is still there, and no fence is given twice.

import { expect, test } from "vitest";
import { newResponse, write } from "../testing/build.ts";
import { postgresStore } from "./open.ts";
import { createTestDatabase, startPostgresServer } from "./testkit/postgres-server.ts";

test("events that another node has read, and fences, survive a crash of the database", async () => {
  await using server = await startPostgresServer({ isDurable: true });
  const url = await createTestDatabase(server);
  await using stack = new AsyncDisposableStack();
  const open = async () => stack.adopt(await postgresStore({ url, beatMs: 100 }), (store) => store.close());
  const [worker, other] = [await open(), await open()];

  const lease = await worker.create(newResponse("resp_text"), "A", 60_000);
  await worker.create(newResponse("resp_waits", { status: "queued" }), "A", 60_000);
  for (let sequence = 0; sequence < 50; sequence++)
    await worker.commit(lease, write({ events: [{ sequence, data: `{"n":${sequence}}` }] }));
  const seen = await other.events("ann", "resp_text", -1, 100);
  // The last before the crash: nothing that follows may take it to the disk.
  const [first] = await worker.queue.claim("A", { leaseMs: 60_000, limit: 1, id: "resp_waits" });
  await server.stop("immediate");
  await server.start();

  expect(seen).toHaveLength(50);
  expect(await other.events("ann", "resp_text", -1, 100)).toEqual(seen);
  // The session of the first node has ended: another one takes its runs.
  const claim = () => other.queue.claim("B", { leaseMs: 60_000, limit: 1, id: "resp_waits" });
  await expect.poll(async () => (await claim())[0]?.fence, { timeout: 30_000 }).toBe((first?.fence ?? 0) + 1);
}, 60_000);
