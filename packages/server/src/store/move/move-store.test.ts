// Moves a real SQLite file to a real PostgreSQL, with everything that a store keeps.

import { createHash } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { inputId, newResponseId } from "../../protocol/ids.ts";
import { migratePostgres, moveToPostgres } from "../migrate-store.ts";
import { openStore } from "../open-store.ts";
import { testDatabase } from "../postgres/testkit/test-database.ts";
import { sqliteStore } from "../sqlite/sqlite-store.ts";
import type { Store } from "../store.ts";
import { events, inputItem, message, newResponse, output, write } from "../testing/build.ts";
import { tempFolder } from "../testkit/temp-folder.ts";

const oddId = "é\u{1F600}\\'; -- nul\u0000";
const leaseMs = 30_000;
const singleEvents = 1100;
const largeEvents = 50;
const sharingId = newResponseId();
const sharedItems = 1100;
const sharedId = inputId("msg", { responseId: sharingId, position: 1001 }, undefined);

async function fill(store: Store): Promise<void> {
  await store.keepSecret("seal", "the secret of this store");
  await store.createConversation({
    id: "conv_1",
    owner: "ann",
    createdAtMs: 5,
    metadata: { a: "ä" },
    items: [inputItem("msg_c1"), inputItem(oddId)],
  });
  for (let n = 0; n < 30; n += 1) {
    const lease = await store.create(
      newResponse(`resp_${n}`, {
        createdAtMs: 1000 + n,
        previousResponseId: n === 0 ? null : `resp_${n - 1}`,
        input: [inputItem(n === 3 ? oddId : `msg_in${n}`, "x".repeat(n * 3000))],
        title: `Größe "${n}" \\`,
        source: oddId,
        events: events(0, 0),
        ...(n === 4 && { idempotency: { key: `key ${oddId}`, fingerprint: "f", keepMs: 86_400_000 } }),
        ...(n === 5 && { conversation: { id: "conv_1", mustBeFree: true } }),
      }),
      "worker",
      leaseMs,
    );
    await store.commit(lease, write({ events: events(1, 40), steps: [{ type: "round", n }, { n: 2 }] }));
    await store.commit(
      lease,
      write({
        events: events(41, 80),
        steps: [{ n: 3 }],
        output: [output(0, message(`msg_out${n}`, "completed", `Text \\u0000 "${n}" é`))],
        update: { status: "completed", completedAtMs: 2000 + n },
        trace: { first: 0, last: 1, lines: `{"é":"\\u0000"}\n{"n":${n}}` },
      }),
    );
  }
  // More events than a batch has, in rows of their own, and more characters than it has.
  const logged = await store.create(newResponse("resp_logged", { createdAtMs: 8000 }), "worker", leaseMs);
  await Promise.all(
    Array.from({ length: singleEvents }, (_, n) => store.commit(logged, write({ events: events(n, n) }))),
  );
  const text = "x".repeat(60_000);
  const large = events(singleEvents, singleEvents + largeEvents - 1).map(({ sequence }) => ({
    sequence,
    data: JSON.stringify({ sequence, text }),
  }));
  await store.commit(logged, write({ events: large, update: { status: "completed", completedAtMs: 8001 } }));
  // Items that share rows.
  const sharing = newResponse(sharingId, {
    createdAtMs: 8500,
    input: Array.from({ length: sharedItems }, (_, position) =>
      inputItem(inputId("msg", { responseId: sharingId, position }, undefined), `${oddId} "${position}"`),
    ),
  });
  const shared = await store.create(sharing, "worker", leaseMs);
  await store.commit(shared, write({ update: { status: "completed", completedAtMs: 8501 } }));
  // One that waits, and one that a process left when it died.
  const waiting = newResponse("resp_waiting", { status: "queued", credentials: "sealed", createdAtMs: 9000 });
  await store.create(waiting, "worker", leaseMs);
  const died = await store.create(newResponse("resp_died", { createdAtMs: 9001 }), "worker", leaseMs);
  await store.commit(died, write({ events: events(0, 2), steps: [{ n: 1 }] }));
  async function* content() {
    yield Buffer.alloc(600_000, "é");
    yield Buffer.from([0, 1, 255]);
  }
  await store.files?.create({ id: "file_1", owner: "ann", createdAtMs: 7 }, content(), () => ({
    filename: "päß.csv",
    purpose: "user_data",
    expiresAtMs: null,
  }));
}

/** Everything that clients can see, and what a worker gets. */
async function shown(store: Store) {
  const page = await store.list("ann", { limit: 100, order: "asc" });
  const ids = page.data.map(({ id }) => id);
  const content = await store.files?.content("ann", "file_1");
  return {
    responses: page.data,
    runs: await store.listRuns("ann", { limit: 100, order: "asc" }),
    roots: await store.listRuns("ann", { limit: 100, order: "asc", onlyRoots: true, search: '"' }),
    traces: await Promise.all(ids.map((id) => store.trace("ann", id, -1))),
    outputs: await Promise.all(ids.map((id) => store.output("ann", id))),
    inputs: await Promise.all(ids.map((id) => store.input("ann", id, { limit: 100, order: "asc" }))),
    events: await Promise.all(ids.map((id) => store.events("ann", id, -1, 1000))),
    chain: await store.chain("ann", "resp_29"),
    items: (await store.items("ann", [oddId, "msg_in7", sharedId])).toSorted((a, b) =>
      String(a.id) < String(b.id) ? -1 : 1,
    ),
    conversation: await store.readConversation("ann", "conv_1"),
    head: await store.getConversation("ann", "conv_1"),
    key: await store.findByKey("ann", `key ${oddId}`),
    secret: await store.keepSecret("seal", "another"),
    file: await store.files?.get("ann", "file_1"),
    content: content && hashOf(await Array.fromAsync(content)),
    counts: await store.queue.count(),
  };
}

function hashOf(pieces: readonly Uint8Array[]): string {
  return createHash("sha256").update(Buffer.concat(pieces)).digest("hex");
}

async function filledFile(path: string) {
  const store = sqliteStore({ path });
  await fill(store);
  await store.close();
  // As a crash left it, seen by the next process.
  const reopened = sqliteStore({ path });
  const before = await shown(reopened);
  await reopened.close();
  return before;
}

test("a file is moved with all it has, in parts, and its runs go on", { timeout: 60_000 }, async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const before = await filledFile(path);
  const to = await testDatabase();
  const controller = new AbortController();
  const move = (signal: AbortSignal, onProgress?: Parameters<typeof moveToPostgres>[0]["onProgress"]) =>
    moveToPostgres({ from: "rondo.db", to, cwd: folder.path, signal, ...(onProgress && { onProgress }) });
  // Interrupted after each batch, until all is there.
  const interruptions: unknown[] = [];
  let opened: unknown;
  let counts: Awaited<ReturnType<typeof move>> | undefined;
  while (counts === undefined) {
    const part = new AbortController();
    const stop = new Error("Interrupted.");
    counts = await move(part.signal, ({ phase }) => phase === "copy" && part.abort(stop)).catch(
      (error: unknown) => {
        interruptions.push(error);
        return undefined;
      },
    );
    if (interruptions.length === 1) opened ??= await openStore(to).catch((error: unknown) => error);
  }
  expect(new Set(interruptions.map(String))).toEqual(new Set(["Error: Interrupted."]));
  expect(interruptions.length).toBeGreaterThan(10);
  expect(String(opened)).toMatch(/The move of a store to .* is not finished/);
  const rows = Object.fromEntries(counts.map(({ table, rows: count }) => [table, count]));
  expect(rows).toMatchObject({
    secrets: 1,
    responses: 34,
    items: 60 + sharedItems,
    events: 30 * 81 + 3 + singleEvents + largeEvents,
    steps: 91,
    traces: 30,
    idempotency_keys: 1,
    conversations: 1,
    files: 1,
  });
  expect(counts.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))).toBe(true);

  const store = await openStore(to);
  try {
    const withoutFiles = { ...before, file: undefined, content: undefined };
    expect(await shown(store)).toEqual(store.files ? before : withoutFiles);
    const jobs = await store.queue.claim("new", { leaseMs, limit: 10 });
    expect(jobs.map(({ responseId }) => responseId).toSorted()).toEqual(["resp_died", "resp_waiting"]);
    const [died, waiting] = jobs.toSorted((a, b) => (a.responseId < b.responseId ? -1 : 1));
    expect(died && (await store.resume(died))).toMatchObject({ lastSequence: 2, steps: [{ n: 1 }] });
    expect(waiting && (await store.resume(waiting))).toMatchObject({ credentials: "sealed" });
    // New rows get keys of their own.
    await store.create(newResponse("resp_new", { input: [inputItem("msg_new")] }), "w", leaseMs);
    await store.addConversationItems("ann", "conv_1", [inputItem("msg_added")]);
  } finally {
    await store.close();
  }
  await expect(move(controller.signal)).rejects.toThrow(
    /was moved to .* before, and servers may have used it/,
  );
});

test("is refused if the file is open in a server, or missing, or the database is not empty", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const to = await testDatabase();
  const { signal } = new AbortController();
  const options = { from: path, to, cwd: folder.path, signal };
  await expect(moveToPostgres(options)).rejects.toThrow(`There is no file ${path} to move.`);
  const open = sqliteStore({ path });
  await expect(moveToPostgres(options)).rejects.toThrow("is open in another server");
  await open.close();
  const target = await openStore(to);
  await target.keepSecret("seal", "of the target");
  await target.close();
  await expect(moveToPostgres(options)).rejects.toThrow("has data of its own (secrets)");
});

test("a difference in the end is found", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const store = sqliteStore({ path });
  await store.keepSecret("seal", "s");
  await store.create(newResponse("resp_1", { input: [inputItem("msg_1")] }), "w", leaseMs);
  await store.close();
  const to = await testDatabase();
  const client = new pg.Client(to);
  await migratePostgres(to);
  await client.connect();
  try {
    // Changed while it is moved.
    await client.query(
      `CREATE FUNCTION public.twist() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.data := replace(NEW.data, 'Text', 'Tent'); RETURN NEW; END $$;
       CREATE TRIGGER twist BEFORE INSERT ON rondo.items FOR EACH ROW EXECUTE FUNCTION public.twist()`,
    );
    const { signal } = new AbortController();
    await expect(moveToPostgres({ from: path, to, cwd: folder.path, signal })).rejects.toThrow(
      /row 1 of items in postgres:.* is not what .*rondo\.db has/,
    );
  } finally {
    await client.end();
  }
});
