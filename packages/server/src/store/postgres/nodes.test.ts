// Several nodes on one database: news between them, and who takes over from whom.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cancelsTopic, jobsTopic, type News } from "../news.ts";
import type { Store } from "../store.ts";
import { events, newResponse, write } from "../testing/build.ts";
import { postgresStore } from "./open.ts";
import { emptyTables } from "./testkit/empty-tables.ts";
import { testDatabase } from "./testkit/test-database.ts";

let url: string;
let here: Store;
let there: Store;
beforeAll(async () => {
  url = await testDatabase();
  // Both at once on an empty database.
  const open = () => postgresStore({ url, beatMs: 200, deadAfterMs: 2000 });
  [here, there] = await Promise.all([open(), open()]);
});
afterEach(() => emptyTables(url));
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
});

/** Resolves with the next news of a topic: the events that came with it, if any. */
function nextNews(news: News | undefined, topic: string): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const stop = news?.subscribe(topic, (came) => {
    stop?.();
    resolve(came);
  });
  return promise;
}

/** Another process with a store, which holds the lease of the response `id`. */
async function startNode(id: string) {
  const child = spawn(
    process.execPath,
    [
      "--conditions=rondo-source",
      fileURLToPath(new URL("./testkit/node-process.ts", import.meta.url)),
      url,
      id,
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value;
  expect(await line()).toBe("begun");
  return {
    signal: (name: NodeJS.Signals) => child.kill(name),
    say: (text: string) => child.stdin.write(`${text}\n`),
    line,
    ended: new Promise((resolve) => child.once("exit", resolve)),
  };
}

/** Claims a response as soon as it is free. */
async function takeOver(id: string) {
  while (true) {
    const freed = nextNews(here.news, jobsTopic);
    const [job] = await here.queue.claim("heir", { leaseMs: 30_000, limit: 1, id });
    if (job) return job;
    await freed;
  }
}

describe("news", () => {
  test("of one node reach the listeners of the others, without the events", async () => {
    const lease = await there.create(newResponse("resp_1", { events: events(0, 0) }), "worker", 30_000);
    const remote = nextNews(here.news, "resp_1");
    const local = nextNews(there.news, "resp_1");
    await there.commit(lease, write({ events: events(1, 2) }));
    there.news?.publish("resp_1", events(1, 2));

    expect(await local).toEqual(events(1, 2));
    expect(await remote).toBeUndefined();
    expect(await here.events("ann", "resp_1", 0, 10)).toEqual(events(1, 2));
  });

  test("of a thousand topics at once arrive, also with long names", async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `resp_${i}_${"é".repeat(i % 50)}`);
    const arrived = Promise.all([...names, "x".repeat(9000)].map((name) => nextNews(here.news, name)));
    for (const name of names) there.news?.publish(name);
    there.news?.publish("y".repeat(9000));
    expect(await arrived).toHaveLength(1001);
  });

  test("of a cancellation reach the node that works", async () => {
    const lease = await there.create(newResponse("resp_1"), "worker", 30_000);
    const told = nextNews(there.news, cancelsTopic);
    await here.requestCancel("ann", "resp_1");
    here.news?.publish(cancelsTopic);
    await told;
    expect(await there.queue.renew([lease], 30_000)).toEqual([
      { responseId: "resp_1", isCancelRequested: true },
    ]);
  });

  test("wake many followers of a run, who share what is read", async () => {
    const lease = await there.create(newResponse("resp_1"), "worker", 30_000);
    await there.commit(lease, write({ events: events(0, 9) }));
    const pages = await Promise.all(
      Array.from({ length: 100 }, (_, i) => here.events("ann", "resp_1", (i % 5) - 1, 500)),
    );
    expect(pages.map((page) => page.length)).toEqual(Array.from({ length: 100 }, (_, i) => 10 - (i % 5)));
    // One that is older than the news would be a page without what somebody was woken for.
    await there.commit(lease, write({ events: events(10, 10) }));
    const told = nextNews(here.news, "resp_1");
    there.news?.publish("resp_1", events(10, 10));
    await told;
    expect(await here.events("ann", "resp_1", 8, 500)).toEqual(events(9, 10));
    expect(await here.events("bob", "resp_1", 8, 500)).toEqual([]);
  });
});

describe("the runs of a process", () => {
  test("that is killed are free at once, though their leases last a minute", async () => {
    const node = await startNode("resp_1");
    node.signal("SIGKILL");

    // One death is nobody's fault.
    expect(await takeOver("resp_1")).toMatchObject({ fence: 2, attempts: 1, suspicion: 0 });
    await node.ended;
  });

  test("that is frozen are free after a while, and nothing that it writes later is accepted", async () => {
    const node = await startNode("resp_1");
    node.say("write");
    expect(await node.line()).toBe("written");
    node.signal("SIGSTOP");

    const job = await takeOver("resp_1");
    node.say("write");
    node.signal("SIGCONT");

    expect(await node.line()).toBe("lost_lease");
    await here.commit(job, write({ events: events(1, 1) }));
    expect(await here.events("ann", "resp_1", -1, 10)).toEqual(events(0, 1));
    node.say("close");
    expect(await node.line()).toBe("closed");
    await node.ended;
  });

  test("that closes its store are free without a suspicion", async () => {
    const node = await startNode("resp_1");
    node.say("close");
    await node.ended;

    expect(await here.queue.claim("heir", { leaseMs: 1000, limit: 1, suspects: "none" })).toMatchObject([
      { responseId: "resp_1", attempts: 1, suspicion: 0 },
    ]);
  });
});

test("of two requests with one idempotency key at two nodes at once, one is accepted", async () => {
  for (let round = 0; round < 20; round++) {
    const key = { key: `key ${round}`, fingerprint: "same", keepMs: 60_000 };
    const outcomes = await Promise.allSettled(
      [here, there].map((store, node) =>
        store.create(newResponse(`resp_${round}_${node}`, { idempotency: key }), "worker", 60_000),
      ),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes).toContainEqual({
      status: "rejected",
      reason: expect.objectContaining({ code: "key_taken" }),
    });
  }
});
