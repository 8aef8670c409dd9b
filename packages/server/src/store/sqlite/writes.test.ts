import { expect, test } from "vitest";
import { inputItem, newResponse } from "../testing/build.ts";
import { sqliteFile } from "../testkit/sqlite-file.ts";

const items = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => inputItem(`${prefix}_${index}`));

test.each([0, 1, 7, 8, 9, 16, 17, 40])("%i items of a request are stored in their order", async (count) => {
  await using file = sqliteFile();
  const input = items("in", count);
  await file.store.create(newResponse("resp_1", { input }), "worker-1", 30_000);
  const page = await file.store.input("ann", "resp_1", { limit: 100, order: "asc" });
  expect(page?.data.map(({ id }) => id)).toEqual(input.map(({ id }) => id));
});

test("a response with the id of another, or of its items, is refused alone, and changes nothing", async () => {
  await using file = sqliteFile();
  const create = (id: string, input = items(id, 20)) =>
    file.store.create(newResponse(id, { input }), "worker-1", 30_000);
  await create("resp_1");
  const [before, sameId, sameItem, after] = await Promise.allSettled([
    create("resp_2"),
    create("resp_1", items("other", 20)),
    create("resp_3", [...items("more", 12), inputItem("resp_1_5"), inputItem("resp_1_6")]),
    create("resp_4"),
  ]);
  expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(sameId).toMatchObject({
    reason: { code: "duplicate_id", message: expect.stringContaining("There is a response resp_1 already") },
  });
  expect(sameItem).toMatchObject({
    reason: { code: "duplicate_id", message: expect.stringContaining("The input item resp_1_5 ") },
  });
  expect(await file.store.get("ann", "resp_3")).toBeUndefined();
  expect(await file.store.items("ann", ["other_0", "more_0"])).toEqual([]);
  for (const id of ["resp_2", "resp_4"])
    expect((await file.store.input("ann", id, { limit: 100, order: "asc" }))?.data).toHaveLength(20);
});
