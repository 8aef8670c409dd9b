// What every store must do with a new response.

import { describe, expect, test } from "vitest";
import { events, inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function createTests(context: SuiteContext): void {
  const { create, allEvents } = context;

  describe("a new response", () => {
    test("is returned as it was created", async () => {
      await create("resp_1", { previousResponseId: "resp_0", background: false, createdAtMs: 1234 });

      expect(await context.store.get("ann", "resp_1")).toEqual({
        id: "resp_1",
        owner: "ann",
        status: "in_progress",
        background: false,
        model: "small",
        createdAtMs: 1234,
        completedAtMs: null,
        previousResponseId: "resp_0",
        request: { instructions: "Instructions of resp_1" },
        error: null,
        incompleteReason: null,
        usage: null,
        isCancelRequested: false,
      });
    });

    test("keeps its input in order, and its first events", async () => {
      await create("resp_1", { input: [inputItem("b"), inputItem("a")], events: events(0, 1) });

      expect(await context.store.input("ann", "resp_1", { limit: 10, order: "asc" })).toEqual({
        data: [inputItem("b"), inputItem("a")],
        hasMore: false,
      });
      expect(await allEvents("ann", "resp_1")).toEqual(events(0, 1));
    });

    test("is leased to its worker at once when it is in progress, and to nobody when it is queued", async () => {
      const running = await create("resp_1");
      const waiting = await create("resp_2", { status: "queued" });

      expect(running).toEqual({ responseId: "resp_1", fence: 1 });
      expect(waiting).toEqual({ responseId: "resp_2", fence: 0 });
      await context.store.commit(running, write({ events: events(0, 0) }));
      await expect(context.store.commit(waiting, write({ events: events(0, 0) }))).rejects.toMatchObject({
        code: "lost_lease",
      });
    });

    test("must have an id of its own, and so must its items", async () => {
      await create("resp_1", { input: [inputItem("a")] });

      const duplicates = [
        create("resp_1"),
        create("resp_2", { input: [inputItem("b"), inputItem("a")] }),
        create("resp_3", { input: [inputItem("c"), inputItem("c")] }),
      ];

      for (const duplicate of duplicates) {
        await expect(duplicate).rejects.toMatchObject({ code: "duplicate_id" });
      }
      expect(await context.store.get("ann", "resp_2")).toBeUndefined();
      expect(await context.store.items("ann", ["b", "c"])).toEqual([]);
    });

    test("may have an item id that another owner has: ids tell nothing about others", async () => {
      await create("resp_1", { input: [inputItem("a", "Ann's")] });
      await create("resp_2", { owner: "bob", input: [inputItem("a", "Bob's")] });

      expect(await context.store.items("ann", ["a"])).toEqual([inputItem("a", "Ann's")]);
      expect(await context.store.items("bob", ["a"])).toEqual([inputItem("a", "Bob's")]);
    });

    test("must have events that start with 0", async () => {
      await expect(create("resp_1", { events: events(1, 2) })).rejects.toMatchObject({
        code: "out_of_order",
      });
      expect(await context.store.get("ann", "resp_1")).toBeUndefined();
    });

    test("does not change with the objects that went in or came out", async () => {
      const item = inputItem("a");
      const request = { instructions: "Be brief." };
      const created = create("resp_1", { input: [item], request });
      item["content"] = "changed";
      request.instructions = "changed";
      const lease = await created;
      const answer = message("msg_1", "in_progress", "Hello");
      const committed = context.store.commit(lease, write({ output: [output(0, answer)] }));
      answer.status = "completed";
      await committed;

      Object.assign((await context.store.get("ann", "resp_1"))?.request ?? {}, { instructions: "changed" });
      Object.assign((await context.store.resume(lease)).input[0] ?? {}, { content: "changed" });

      expect((await context.store.get("ann", "resp_1"))?.request).toEqual({ instructions: "Be brief." });
      const again = await context.store.resume(lease);
      expect(again.input).toEqual([inputItem("a")]);
      expect(again.output).toEqual([output(0, message("msg_1", "in_progress", "Hello"))]);
    });
  });
}
