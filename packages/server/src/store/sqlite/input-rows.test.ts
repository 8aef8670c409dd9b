import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inputId, newResponseId, newTimedId } from "../../protocol/ids.ts";
import { inputItem, newResponse, write } from "../testing/build.ts";
import { memoryStore } from "../testkit/memory.ts";
import { sqliteFile } from "../testkit/sqlite-file.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { fromInputRow, itemsOfRow, maxItemsOfRow, toInputRows } from "./input-rows.ts";
import { sqliteStore } from "./sqlite-store.ts";

const responseId = newResponseId();

/** Items of a request: most ids name their place, some are of other kinds, and some texts are long. */
const given = fc.array(
  fc.record({
    kind: fc.constantFrom("place", "place", "place", "place", "added", "other place"),
    text: fc.oneof(fc.string(), fc.constantFrom("x".repeat(9_000), "y".repeat(50_000))),
  }),
  { maxLength: 200 },
);

function toItems(kinds: readonly { readonly kind: string; readonly text: string }[]) {
  return kinds.map(({ kind, text }, position) => {
    const place = { responseId: kind === "place" ? responseId : newResponseId(), position };
    return inputItem(
      kind === "added" ? newTimedId("msg", undefined) : inputId("msg", place, undefined),
      text,
    );
  });
}

function shortItems(count: number) {
  return Array.from({ length: count }, () => ({ kind: "place", text: "x" }));
}

function encoded(items: readonly { readonly id: string }[]) {
  return items.map((item) => ({ id: item.id, data: JSON.stringify(item) }));
}

test("rows give back the items that were put into them", () => {
  fc.assert(
    fc.property(given, (kinds) => {
      const items = toItems(kinds);
      const rows = toInputRows(responseId, encoded(items));
      expect(rows.flatMap(fromInputRow)).toEqual(items);
      expect(rows.flatMap(itemsOfRow)).toEqual(encoded(items));
      let position = 0;
      for (const row of rows) {
        expect(row.position).toBe(position);
        position += row.count;
      }
    }),
  );
});

test("rows have a limit in items and in characters, and items with ids of another kind have their own", () => {
  const counts = (kinds: readonly { kind: string; text: string }[]) =>
    toInputRows(responseId, encoded(toItems(kinds))).map(({ count }) => count);
  const [short] = shortItems(1) as [{ kind: string; text: string }];
  const long = { kind: "place", text: "é".repeat(5_000) };
  expect(counts(shortItems(2 * maxItemsOfRow + 5))).toEqual([maxItemsOfRow, maxItemsOfRow, 5]);
  expect(counts([short, long, long, short, { ...short, kind: "added" }, short, short])).toEqual([2, 2, 1, 2]);
});

test("any page and any item is the same as in the reference store", async () => {
  const place = fc.option(fc.nat(220), { nil: undefined });
  const page = fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    order: fc.constantFrom("asc" as const, "desc" as const),
    after: place,
    before: place,
  });
  await fc.assert(
    fc.asyncProperty(given, fc.array(page, { maxLength: 20 }), async (kinds, pages) => {
      const input = toItems(kinds);
      await using file = sqliteFile();
      const memory = memoryStore();
      const stores = [file.store, memory];
      const conversation = { id: "conv_1", mustBeFree: true };
      const results = stores.map(async (store) => {
        const head = { id: "conv_1", owner: "ann", createdAtMs: 1, metadata: {}, items: [] };
        await store.createConversation(head);
        const response = newResponse(responseId, { input, conversation });
        const lease = await store.create(response, "worker-1", 30_000);
        const idAt = (index: number | undefined) => (index === undefined ? undefined : input[index]?.id);
        const seen: unknown[] = [(await store.resume(lease)).input];
        for (const { limit, order, ...places } of pages) {
          const [after, before] = [idAt(places.after), idAt(places.before)];
          const options = { limit, order, ...(after && { after }), ...(before && { before }) };
          seen.push(await store.input("ann", responseId, options));
        }
        const wanted = input.filter((_, index) => index % 3 === 0).map(({ id }) => id);
        const named = (position: number) => inputId("msg", { responseId, position }, undefined);
        const found = await store.items("ann", [...wanted, named(input.length), `fc_${named(0).slice(4)}`]);
        const positions = new Map(input.map(({ id }, position) => [id, position]));
        const positionOf = ({ id = "" }: { id?: string | null }) => positions.get(id ?? "") ?? -1;
        seen.push(found.toSorted((a, b) => positionOf(a) - positionOf(b)));
        seen.push(await store.items("bob", wanted));
        await store.commit(lease, write({ update: { status: "completed" } }));
        seen.push(await store.chain("ann", responseId), await store.readConversation("ann", "conv_1"));
        seen.push((await store.items("ann", wanted)).length);
        await store.remove("ann", responseId);
        seen.push((await store.items("ann", wanted)).length);
        return seen;
      });
      const [sqlite, reference] = await Promise.all(results);
      expect(sqlite).toEqual(reference);
      await memory.close();
    }),
    { numRuns: 40 },
  );
}, 60_000);

test("a cursor that is not of the list is refused, also one that names a place in it", async () => {
  await using file = sqliteFile();
  const other = newResponseId();
  for (const id of [responseId, other]) {
    const input = [0, 1, 2].map((position) =>
      inputItem(inputId("msg", { responseId: id, position }, undefined)),
    );
    await file.store.create(newResponse(id, { input }), "worker-1", 30_000);
  }
  const idOf = (id: string, position: number) => inputId("msg", { responseId: id, position }, undefined);
  const page = (after: string) => file.store.input("ann", responseId, { limit: 1, order: "asc", after });
  expect((await page(idOf(responseId, 1))).data).toHaveLength(1);
  for (const after of [idOf(responseId, 3), idOf(other, 1), `fc_${idOf(responseId, 1).slice(4)}`, "msg_1"])
    await expect(page(after)).rejects.toMatchObject({ code: "unknown_cursor" });
});

test("items of a file from before they shared rows are read, and followed by others", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "rondo.db");
  const before = sqliteStore({ path });
  const old = Array.from({ length: 70 }, (_, index) =>
    inputItem(newTimedId("msg", undefined), `Text ${index}`),
  );
  await before.create(newResponse("resp_1", { input: old }), "worker-1", 30_000);
  await before.close();
  const database = new DatabaseSync(path);
  database.exec("ALTER TABLE items DROP COLUMN count; PRAGMA user_version = 9");
  database.close();

  const store = sqliteStore({ path });
  const added = toItems(shortItems(70));
  await store.create(newResponse(responseId, { input: added }), "worker-1", 30_000);
  for (const [id, items] of [
    ["resp_1", old],
    [responseId, added],
  ] as const) {
    const after = items[29]?.id ?? "";
    const page = await store.input("ann", id, { limit: 100, order: "asc", after });
    expect(page).toEqual({ data: items.slice(30), hasMore: false });
    expect(await store.items("ann", [after])).toEqual([items[29]]);
  }
  await store.close();
});
