import { expect, test } from "vitest";
import { inputItem, message, newResponse, output, write } from "../testing/build.ts";
import { sqliteFile } from "../testkit/sqlite-file.ts";
import { Chains } from "./chains.ts";
import type { SqliteConnection } from "./connection.ts";
import type { SqliteStore } from "./sqlite-store.ts";

/** Adds responses with the numbers from `first` to `last`, each after the one before it, and the first after `after`. */
async function addResponses(
  store: SqliteStore,
  first: number,
  last: number,
  after = first === 0 ? null : `r${first - 1}`,
): Promise<void> {
  for (let i = first; i <= last; i++) {
    const previousResponseId = i === first ? after : `r${i - 1}`;
    const response = newResponse(`r${i}`, { previousResponseId, input: [inputItem(`in_${i}`)] });
    const lease = await store.create(response, "worker-1", 30_000);
    const items = [output(0, message(`msg_${i}`))];
    await store.commit(lease, write({ output: items, update: { status: "completed" } }));
  }
}

/** The connection, and how many items were read by it. */
function counting(connection: SqliteConnection) {
  const all = connection.all.bind(connection);
  const counted = {
    items: 0,
    connection,
    take() {
      const { items } = counted;
      counted.items = 0;
      return items;
    },
  };
  connection.all = <Row>(sql: string, ...values: Parameters<typeof all>[1][]): Row[] => {
    const rows = all<Row>(sql, ...values);
    if (sql.includes("JOIN items")) counted.items += rows.length;
    return rows;
  };
  return counted;
}

const idsOf = (chains: Chains, id: string) => chains.read("ann", id).links.map((link) => link.id);
const names = (last: number) => Array.from({ length: last + 1 }, (_, i) => `r${i}`);

test("the next response of a chain reads only the new link, however long the chain is", async () => {
  await using file = sqliteFile();
  const counted = counting(file.connection);
  const chains = new Chains(file.connection);
  await addResponses(file.store, 0, 100);

  expect(idsOf(chains, "r100")).toEqual(names(100));
  expect(counted.take()).toBe(202);
  await addResponses(file.store, 101, 101);
  expect(idsOf(chains, "r101")).toEqual(names(101));
  expect(counted.take()).toBe(2);
  expect(idsOf(chains, "r50")).toEqual(names(50));
  expect(counted.take()).toBe(0);
});

test("a chain that was read is found from each of its branches, and not by another owner", async () => {
  await using file = sqliteFile();
  const counted = counting(file.connection);
  const chains = new Chains(file.connection);
  await addResponses(file.store, 0, 9);
  expect(idsOf(chains, "r9")).toEqual(names(9));
  await addResponses(file.store, 20, 20, "r9");
  await addResponses(file.store, 30, 30, "r9");
  await addResponses(file.store, 21, 21, "r20");
  counted.take();
  for (const [id, ...branch] of [["r20"], ["r30"], ["r21", "r20"]] as const)
    expect(idsOf(chains, id)).toEqual([...names(9), ...branch, id]);
  expect(counted.take()).toBe(6);
  expect(idsOf(chains, "r5")).toEqual(names(5));
  expect(chains.read("bob", "r21")).toEqual({ links: [], missing: "r21" });
});

test("a chain that was read stays when a response of another one is deleted", async () => {
  await using file = sqliteFile();
  const counted = counting(file.connection);
  const chains = new Chains(file.connection);
  await addResponses(file.store, 0, 9);
  const { links } = chains.read("ann", "r9");
  counted.take();
  chains.forget(new Set(["other", "another"]));
  expect(chains.read("ann", "r9").links).toBe(links);
  chains.forget(new Set(["other", "r9"]));
  expect(idsOf(chains, "r9")).toEqual(names(9));
  expect(counted.take()).toBe(2);
});

test("a chain that was read is broken by the deletion of any of its responses", async () => {
  await using file = sqliteFile();
  await addResponses(file.store, 0, 9);
  expect((await file.store.chain("ann", "r9")).links).toHaveLength(10);
  expect((await file.store.chain("ann", "r9")).links).toHaveLength(10);
  await file.store.remove("ann", "r4");
  expect(await file.store.chain("ann", "r9")).toEqual({ links: [], missing: "r4" });
  expect((await file.store.chain("ann", "r3")).links).toHaveLength(4);
});

test("links that were not used for long are read again, and used ones stay cached", async () => {
  await using file = sqliteFile();
  const counted = counting(file.connection);
  await addResponses(file.store, 0, 99);
  const sizeOf = (value: unknown) => JSON.stringify(value).length;
  const one = 200 + sizeOf(inputItem("in_99")) + sizeOf(message("msg_99"));
  const chains = new Chains(file.connection, one * 20);
  chains.read("ann", "r4");
  counted.take();

  for (let i = 5; i < 100; i++) {
    // Those of the first five are used all the time, the others once.
    await addResponses(file.store, 1000 + i, 1000 + i, "r4");
    expect(idsOf(chains, `r${1000 + i}`)).toEqual([...names(4), `r${1000 + i}`]);
    expect(counted.take()).toBe(2);
  }
  expect(idsOf(chains, "r1005")).toEqual([...names(4), "r1005"]);
  expect(counted.take()).toBe(2);
  // More than there is room for.
  for (let i = 0; i < 2; i++) {
    expect(idsOf(chains, "r99")).toEqual(names(99));
    expect(counted.take()).toBeGreaterThan(100);
  }
});

test("cached links cannot be changed", async () => {
  await using file = sqliteFile();
  await addResponses(file.store, 0, 0);
  const { links } = await file.store.chain("ann", "r0");

  expect(() => Object.assign(links[0]?.input[0] ?? {}, { content: "changed" })).toThrow(TypeError);
  expect(() => Object.assign(links[0]?.output[0]?.item ?? {}, { content: [] })).toThrow(TypeError);
});
