// Reads must cost what they return, not what is stored: no query may walk through a table.

import { expect, test } from "vitest";
import { inputId, newResponseId } from "../../protocol/ids.ts";
import type { ListResponsesOptions, ListRunsOptions } from "../store.ts";
import { events, inputItem, message, newResponse, output, write } from "../testing/build.ts";
import { type SqliteFile, sqliteFile } from "../testkit/sqlite-file.ts";

/** All SQL that `use` makes the store prepare, each with the lines of its plan. */
async function plansOf(
  use: (store: SqliteFile["store"]) => Promise<unknown>,
): Promise<Map<string, string[]>> {
  await using file = sqliteFile();
  const { database } = file.connection;
  const prepare = database.prepare.bind(database);
  const plans = new Map<string, string[]>();
  database.prepare = (sql, ...rest) => {
    const rows = prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    plans.set(
      sql,
      rows.map((row) => String(row["detail"])),
    );
    return prepare(sql, ...rest);
  };
  await use(file.store);
  return plans;
}

const linesOf = (plans: Map<string, string[]>) => [...plans.values()].flat();

test("queries of clients use an index", async () => {
  const plans = await plansOf(async (store) => {
    const idempotency = { key: "k", fingerprint: "f", keepMs: 1 };
    await store.create(newResponse("r0", { input: [inputItem("a")], idempotency }), "worker-1", 30_000);
    await store.findByKey("ann", "k");
    await store.get("ann", "r0");
    await store.output("ann", "r0");
    await store.input("ann", "r0", { limit: 1, order: "asc", after: "a" });
    await store.input("ann", "r0", { limit: 1, order: "desc", before: "a" });
    await store.chain("ann", "r0");
    await store.items("ann", ["a"]);
    const responseId = newResponseId();
    const placed = [0, 1].map((position) => inputItem(inputId("msg", { responseId, position }, undefined)));
    await store.create(newResponse(responseId, { input: placed }), "worker-1", 30_000);
    const after = placed[1]?.id ?? "";
    await store.items("ann", [after]);
    await store.input("ann", responseId, { limit: 1, order: "asc", after });
    await store.events("ann", "r0", 1, 1);
    await store.requestCancel("ann", "r0");
    await store.remove("ann", "r0");
  });

  expect(plans.size).toBeGreaterThan(12);
  const shared = [...plans].find(([sql]) => sql.includes("i.position + i.count AS end"));
  expect(shared?.[1].join(" ")).toMatch(/^(?!.*TEMP B-TREE).*SEARCH i USING INDEX/);
  // What is walked through are only the parameters, and the chain that was found.
  const scans = linesOf(plans).filter((line) => line.startsWith("SCAN"));
  expect(new Set(scans)).toEqual(
    new Set(["SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN k VIRTUAL TABLE INDEX 1:", "SCAN c"]),
  );
});

test("queries of conversations use an index", async () => {
  const conversation = { id: "c0", mustBeFree: false };
  const plans = await plansOf(async (store) => {
    const head = { id: "c0", owner: "ann", createdAtMs: 1, metadata: {} };
    await store.createConversation({ ...head, items: [inputItem("a")] });
    const lease = await store.create(newResponse("r0", { conversation }), "worker-1", 30_000);
    await store.commit(lease, write({ output: [output(0, message("m"))], update: { status: "completed" } }));
    await store.getConversation("ann", "c0");
    await store.readConversation("ann", "c0");
    await store.updateConversation("ann", "c0", {});
    await store.addConversationItems("ann", "c0", [inputItem("b")]);
    await store.getConversationItem("ann", "c0", "a");
    for (const order of ["asc", "desc"] as const) {
      await store.listConversationItems("ann", "c0", { limit: 1, order });
      await store.listConversationItems("ann", "c0", { limit: 1, order, after: "a" });
      await store.listConversationItems("ann", "c0", { limit: 1, order, before: "a" });
    }
    await store.removeConversationItem("ann", "c0", "a");
    await store.items("ann", ["a"]);
    await store.removeConversation("ann", "c0");
  });

  const about = new Map([...plans].filter(([sql]) => sql.includes("conversation")));
  expect(about.size).toBeGreaterThan(15);
  const walks = linesOf(about).filter((line) => /SCAN|TEMP B-TREE/.test(line));
  // What is walked through are only the parameters.
  expect(new Set(walks)).toEqual(new Set(["SCAN json_each VIRTUAL TABLE INDEX 1:"]));
});

test("a page of a list is read from an index, in its order, with any filter", async () => {
  const filters: Partial<ListResponsesOptions>[] = [
    {},
    { status: "queued" },
    { model: "small" },
    { background: true },
    { status: "queued", model: "small", background: false },
  ];
  const places: Partial<ListResponsesOptions>[] = [
    {},
    { after: "r0" },
    { before: "r0" },
    { after: "r0", before: "r0" },
  ];
  const plans = await plansOf(async (store) => {
    await store.create(newResponse("r0"), "worker-1", 30_000);
    for (const filter of filters) {
      for (const place of places) {
        await store.list("ann", { limit: 1, order: "asc", ...filter, ...place });
        await store.list("ann", { limit: 1, order: "desc", ...filter, ...place });
      }
    }
  });

  const lists = new Map([...plans].filter(([sql]) => sql.includes("ORDER BY")));
  // Forwards after a cursor is the same as backwards before it.
  expect(lists.size).toBe(30);
  expect(linesOf(lists).filter((line) => /SCAN|TEMP B-TREE/.test(line))).toEqual([]);
  // Between two cursors the way is short by any index.
  const narrowed = new Map(
    [...lists].filter(
      ([sql]) =>
        /r\.(status|model|is_background) = /.test(sql) && sql.split("(r.created_at_ms, r.id)").length <= 2,
    ),
  );
  expect(narrowed.size).toBe(16);
  expect(linesOf(narrowed).filter((line) => line.includes("responses_by_owner"))).toEqual([]);
});

test("a page of runs reads an index in its order, also that of a thread", async () => {
  const filters: Partial<ListRunsOptions>[] = [
    {},
    { status: "queued" },
    { status: "completed", model: "small", source: "here" },
    { source: "here", onlyRoots: true },
    { background: true, search: "x" },
    { createdAfterMs: 1, createdBeforeMs: 2 },
    { thread: "r0" },
    { search: "resp_abcd" },
  ];
  const plans = await plansOf(async (store) => {
    await store.create(newResponse("r0"), "worker-1", 30_000);
    await store.trace("ann", "r0", 1);
    for (const filter of filters)
      for (const place of [{}, { after: "r0" }, { before: "r0" }])
        for (const order of ["asc", "desc"] as const)
          await store.listRuns("ann", { limit: 1, order, ...filter, ...place });
  });
  const lists = new Map([...plans].filter(([sql]) => sql.includes("thread_id, r.id) AS thread_id")));
  // Where rows are left out on the way, a second query finds where the page ends.
  expect(lists.size).toBe((filters.length + 2) * 4);
  const walks = [...lists].filter(([, lines]) => lines.some((line) => /SCAN (?!r$)/.test(line)));
  expect(walks).toEqual([]);
  const sorted = [...lists].filter(([, lines]) => lines.some((line) => line.includes("TEMP B-TREE")));
  // The start of an id leads to few.
  expect(sorted.filter(([sql]) => !sql.includes("r.id >= "))).toEqual([]);
  expect(linesOf(plans).filter((line) => line.includes("responses_by_source"))).not.toEqual([]);
  expect(linesOf(plans).filter((line) => line.includes("responses_by_thread"))).not.toEqual([]);
});

test("a page of runs reads so many at most, and says where it stopped", async () => {
  await using file = sqliteFile();
  const { database } = file.connection;
  database.exec(`WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 10500)
    INSERT INTO responses (id, owner, status, is_background, model, created_at_ms, title)
    SELECT printf('r%05d', n), 'ann', 'completed', 0, 'm', n, iif(n = 7, 'Needle', 'Hay') FROM n`);
  const pages = [];
  for (let after: string | undefined; ; ) {
    const page = await file.store.listRuns("ann", {
      limit: 5,
      order: "desc",
      search: "needle",
      ...(after !== undefined && { after }),
    });
    pages.push([page.data.length, page.next]);
    if (page.next === undefined) break;
    after = page.next;
  }
  expect(pages).toEqual([
    [0, "r05501"],
    [0, "r00501"],
    [1, undefined],
  ]);
});

test("queries of runs use an index, and a claim reads only those that have not ended", async () => {
  const plans = await plansOf(async (store) => {
    const lease = await store.create(newResponse("r0"), "worker-1", 30_000);
    await store.commit(
      lease,
      write({ events: events(0, 0), output: [output(0, message("m"))], steps: [{ a: 1 }] }),
    );
    await store.queue.renew([lease], 1);
    await store.resume(lease);
    await store.queue.release(lease);
    await store.queue.claim("worker-2", { leaseMs: 1, limit: 1, id: "r0" });
    await store.queue.claim("worker-2", { leaseMs: 1, limit: 1 });
    for (const suspects of ["none", "only"] as const)
      await store.queue.claim("worker-2", { leaseMs: 1, limit: 1, suspects });
    await store.queue.trust(lease, { hasProgressed: true });
    await store.expire(1);
    await store.queue.count();
    await store.queue.count("ann");
    await store.queue.nextExpiryMs();
  });

  const scans = linesOf(plans).filter((line) => line.startsWith("SCAN") && !line.includes("VIRTUAL TABLE"));
  expect(new Set(scans)).toEqual(new Set(["SCAN r USING INDEX responses_active"]));
});
