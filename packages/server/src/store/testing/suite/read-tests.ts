// What every store must find, and for whom.

import { describe, expect, test } from "vitest";
import { events, inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function readTests(context: SuiteContext): void {
  const { create, allEvents } = context;

  test("nothing of one owner is there for another", async () => {
    const lease = await create("resp_1", { input: [inputItem("a")], events: events(0, 0) });
    await context.store.commit(lease, write({ output: [output(0, message("msg_1"))] }));
    await create("resp_2", { owner: "bob", previousResponseId: "resp_1" });

    expect(await context.store.get("bob", "resp_1")).toBeUndefined();
    expect(await context.store.output("bob", "resp_1")).toEqual([]);
    expect(await context.store.input("bob", "resp_1", { limit: 10, order: "asc" })).toEqual({
      data: [],
      hasMore: false,
    });
    expect(await context.store.items("bob", ["a", "msg_1"])).toEqual([]);
    expect(await allEvents("bob", "resp_1")).toEqual([]);
    expect(await context.store.chain("bob", "resp_1")).toEqual({ links: [], missing: "resp_1" });
    expect(await context.store.chain("bob", "resp_2")).toEqual({ links: [], missing: "resp_1" });
    expect(await context.store.requestCancel("bob", "resp_1")).toBeUndefined();
    expect(await context.store.remove("bob", "resp_1")).toBe(false);
    const list = await context.store.list("bob", { limit: 10, order: "desc" });
    expect(list.data.map((response) => response.id)).toEqual(["resp_2"]);
    await expect(
      context.store.list("bob", { limit: 10, order: "desc", after: "resp_1" }),
    ).rejects.toMatchObject({
      code: "unknown_cursor",
    });
    expect(await context.store.get("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
  });

  describe("a chain", () => {
    const createChain = async () => {
      for (const [i, previousResponseId] of [null, "r0", "r1"].entries()) {
        const id = `r${i}`;
        // The clock may go back between two responses. Their order must not.
        const createdAtMs = 5000 - i;
        const input = [inputItem(`in_${i}`)];
        const lease = await create(id, { previousResponseId, createdAtMs, input, isClosed: i === 1 });
        const items = [output(0, message(`msg_${i}`)), output(1, message(`more_${i}`), 1)];
        await context.store.commit(lease, write({ output: items, update: { status: "completed" } }));
      }
    };

    test("has all responses with their items, oldest first", async () => {
      await createChain();

      const { links, missing } = await context.store.chain("ann", "r2");

      expect(missing).toBeUndefined();
      expect(links).toEqual(
        [0, 1, 2].map((i) => ({
          id: `r${i}`,
          status: "completed",
          isClosed: i === 1,
          input: [inputItem(`in_${i}`)],
          output: [output(0, message(`msg_${i}`)), output(1, message(`more_${i}`), 1)],
        })),
      );
      expect(await context.store.chain("ann", "r2")).toEqual({ links });
      expect((await context.store.chain("ann", "r0")).links).toHaveLength(1);
    });

    test("names the response that is missing, whether the first, or one in between", async () => {
      await createChain();

      expect(await context.store.chain("ann", "r9")).toEqual({ links: [], missing: "r9" });
      expect((await context.store.chain("ann", "r2")).links).toHaveLength(3);
      await context.store.remove("ann", "r1");
      expect(await context.store.chain("ann", "r2")).toEqual({ links: [], missing: "r1" });
    });

    test("that was read before is not there for another, nor with a response that has expired", async () => {
      await createChain();
      await create("r3", { previousResponseId: "r2" });

      expect((await context.store.chain("ann", "r3")).links).toHaveLength(4);
      expect(await context.store.chain("bob", "r2")).toEqual({ links: [], missing: "r2" });
      await context.store.expire(Number.MAX_SAFE_INTEGER);
      expect(await context.store.chain("ann", "r3")).toEqual({ links: [], missing: "r2" });
    });

    test("includes what a response added after it was read", async () => {
      const lease = await create("r0");
      expect((await context.store.chain("ann", "r0")).links).toMatchObject([
        { status: "in_progress", output: [] },
      ]);
      const items = [output(0, message("msg_1"))];
      await context.store.commit(lease, write({ output: items, update: { status: "completed" } }));

      expect((await context.store.chain("ann", "r0")).links).toMatchObject([
        { status: "completed", output: items },
      ]);
    });

    test("does not include removed responses of the same ids", async () => {
      await createChain();
      await context.store.chain("ann", "r2");
      for (const id of ["r0", "r1", "r2"]) await context.store.remove("ann", id);
      await create("r0", { input: [inputItem("new")] });
      await create("r2", { previousResponseId: "r0" });

      const { links } = await context.store.chain("ann", "r2");

      expect(links.map(({ id, input }) => ({ id, input }))).toEqual([
        { id: "r0", input: [inputItem("new")] },
        { id: "r2", input: [] },
      ]);
    });

    test("cannot be a cycle, nor lead to a later response", async () => {
      await create("r0", { previousResponseId: "r0" });
      await create("r1", { previousResponseId: "r2" });
      await create("r2", { previousResponseId: "r1" });

      expect(await context.store.chain("ann", "r0")).toEqual({ links: [], missing: "r0" });
      expect(await context.store.chain("ann", "r2")).toEqual({ links: [], missing: "r2" });
    });
  });

  test("items are found by their ids, input and output, each once", async () => {
    const lease = await create("resp_1", { input: [inputItem("a"), inputItem("b")] });
    await context.store.commit(lease, write({ output: [output(0, message("msg_1"))] }));

    const found = await context.store.items("ann", ["msg_1", "a", "nothing", "a"]);

    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([inputItem("a"), message("msg_1")]));
    expect(await context.store.items("ann", [])).toEqual([]);
  });

  test("events are read from any sequence number, up to a limit", async () => {
    const lease = await create("resp_1", { events: events(0, 4) });
    await create("resp_2", { events: events(0, 9) });
    await context.store.commit(lease, write({ events: events(5, 6) }));

    expect(await context.store.events("ann", "resp_1", -1, 3)).toEqual(events(0, 2));
    expect(await context.store.events("ann", "resp_1", 3, 100)).toEqual(events(4, 6));
    expect(await context.store.events("ann", "resp_1", 6, 100)).toEqual([]);
  });
}
