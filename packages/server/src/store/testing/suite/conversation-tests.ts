// What every store must do with conversations.

import { describe, expect, test } from "vitest";
import type { ResponseStatus } from "../../../protocol/status.ts";
import type { NewConversation } from "../../conversation-store.ts";
import type { Lease } from "../../run-queue.ts";
import type { NewResponse } from "../../store.ts";
import { inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function conversationTests(context: SuiteContext): void {
  const { create, claim } = context;
  const start = async (id: string, given: Partial<NewConversation> = {}) => {
    await context.store.createConversation({
      id,
      owner: "ann",
      createdAtMs: 1000,
      metadata: {},
      items: [],
      ...given,
    });
  };
  const place = (given: Partial<NewResponse["conversation"]> = {}) => ({
    conversation: { id: "conv_1", mustBeFree: true, ...given },
  });
  const idsOf = async (id = "conv_1", options = {}, owner = "ann") => {
    const page = await context.store.listConversationItems(owner, id, {
      limit: 100,
      order: "asc",
      ...options,
    });
    return { ids: page.data.map((item) => item.id).join(" "), hasMore: page.hasMore };
  };
  const end = (lease: Lease, status: ResponseStatus) =>
    context.store.commit(lease, write({ output: [output(0, message("msg_1"))], update: { status } }));

  describe("a conversation", () => {
    test("is returned as it was created, and its metadata can be replaced", async () => {
      await start("conv_1", { metadata: { a: "b" } });
      const head = { id: "conv_1", owner: "ann", createdAtMs: 1000 };

      expect(await context.store.getConversation("ann", "conv_1")).toEqual({ ...head, metadata: { a: "b" } });
      expect(await context.store.updateConversation("ann", "conv_1", { c: "d" })).toEqual({
        ...head,
        metadata: { c: "d" },
      });
      expect(await context.store.getConversation("ann", "conv_1")).toEqual({ ...head, metadata: { c: "d" } });
    });

    test("must have an id of its own, and so must its items, or nothing is kept", async () => {
      await start("conv_1", { items: [inputItem("a")] });

      await expect(start("conv_1")).rejects.toMatchObject({ code: "duplicate_id" });
      await expect(start("conv_2", { items: [inputItem("b"), inputItem("a")] })).rejects.toMatchObject({
        code: "duplicate_id",
      });
      await expect(
        context.store.addConversationItems("ann", "conv_1", [inputItem("c"), inputItem("c")]),
      ).rejects.toMatchObject({ code: "duplicate_id" });
      expect(await context.store.getConversation("ann", "conv_2")).toBeUndefined();
      expect(await idsOf()).toEqual({ ids: "a", hasMore: false });
    });

    test("returns its items in the order of their addition, in pages", async () => {
      await start("conv_1", { items: ["c", "a"].map((id) => inputItem(id)) });
      await start("conv_2", { items: [inputItem("x")] });
      expect(
        await context.store.addConversationItems("ann", "conv_1", [inputItem("d"), inputItem("b")]),
      ).toBe(true);

      expect(await idsOf()).toEqual({ ids: "c a d b", hasMore: false });
      expect(await idsOf("conv_1", { order: "desc", limit: 3 })).toEqual({ ids: "b d a", hasMore: true });
      expect(await idsOf("conv_1", { after: "a", limit: 1 })).toEqual({ ids: "d", hasMore: true });
      expect(await idsOf("conv_1", { before: "d", limit: 1 })).toEqual({ ids: "a", hasMore: true });
      await expect(idsOf("conv_1", { after: "x" })).rejects.toMatchObject({ code: "unknown_cursor" });
    });

    test("returns and removes single items, which can be referred to by their ids", async () => {
      await start("conv_1", { items: ["a", "b"].map((id) => inputItem(id)) });
      await start("conv_2");

      expect(await context.store.getConversationItem("ann", "conv_1", "a")).toEqual(inputItem("a"));
      expect(await context.store.getConversationItem("ann", "conv_2", "a")).toBeUndefined();
      expect(await context.store.items("ann", ["a"])).toEqual([inputItem("a")]);
      expect(await context.store.removeConversationItem("ann", "conv_2", "a")).toBe(false);
      expect(await context.store.removeConversationItem("ann", "conv_1", "a")).toBe(true);
      expect(await context.store.removeConversationItem("ann", "conv_1", "a")).toBe(false);
      expect(await idsOf()).toEqual({ ids: "b", hasMore: false });
      expect(await context.store.items("ann", ["a"])).toEqual([]);
    });

    test("does not exist for others", async () => {
      await start("conv_1", { items: [inputItem("a")] });
      const { store } = context;

      expect(await store.getConversation("bob", "conv_1")).toBeUndefined();
      expect(await store.updateConversation("bob", "conv_1", {})).toBeUndefined();
      expect(await store.removeConversation("bob", "conv_1")).toBe(false);
      expect(await store.addConversationItems("bob", "conv_1", [inputItem("b")])).toBe(false);
      expect(await store.getConversationItem("bob", "conv_1", "a")).toBeUndefined();
      expect(await store.removeConversationItem("bob", "conv_1", "a")).toBe(false);
      expect(await store.readConversation("bob", "conv_1")).toBeUndefined();
      expect(await idsOf("conv_1", {}, "bob")).toEqual({ ids: "", hasMore: false });
      await expect(create("resp_1", { owner: "bob", ...place() })).rejects.toMatchObject({
        code: "unknown_conversation",
      });
      expect(await store.items("bob", ["a"])).toEqual([]);
      expect(await idsOf()).toEqual({ ids: "a", hasMore: false });
    });

    test("is removed with its items, and a run in it adds nothing", async () => {
      await start("conv_1", { items: [inputItem("a")] });
      const lease = await create("resp_1", place());

      expect(await context.store.removeConversation("ann", "conv_1")).toBe(true);

      await end(lease, "completed");
      expect(await context.store.removeConversation("ann", "conv_1")).toBe(false);
      expect(await context.store.readConversation("ann", "conv_1")).toBeUndefined();
      expect(await context.store.items("ann", ["a"])).toEqual([]);
      // Its ids are free again.
      await start("conv_1", { items: [inputItem("a")] });
    });
  });

  describe("a response of a conversation", () => {
    test.each(["completed", "incomplete", "requires_action"] as const)(
      "adds its input and output when it is %s, and not before",
      async (status) => {
        await start("conv_1", { items: [inputItem("a")] });
        const lease = await create("resp_1", { input: [inputItem("b")], isClosed: true, ...place() });
        expect(await idsOf()).toEqual({ ids: "a", hasMore: false });

        await end(lease, status);

        expect(await context.store.readConversation("ann", "conv_1")).toEqual({
          entries: [
            { item: inputItem("a"), responseId: null, turn: null, isClosed: false },
            { item: inputItem("b"), responseId: "resp_1", turn: null, isClosed: true },
            { item: message("msg_1"), responseId: "resp_1", turn: 0, isClosed: true },
          ],
          version: 2,
          isBusy: false,
        });
      },
    );

    test.each(["failed", "cancelled"] as const)("leaves it as it was when it is %s", async (status) => {
      await start("conv_1", { items: [inputItem("a")] });
      const lease = await create("resp_1", { input: [inputItem("b")], ...place() });

      await end(lease, status);

      expect(await idsOf()).toEqual({ ids: "a", hasMore: false });
      expect(await context.store.readConversation("ann", "conv_1")).toMatchObject({
        version: 1,
        isBusy: false,
      });
    });

    test("adds nothing with a commit that is refused", async () => {
      await start("conv_1");
      const lease = await create("resp_1", { input: [inputItem("b")], ...place() });
      await context.store.queue.release(lease);

      await expect(end(lease, "completed")).rejects.toMatchObject({ code: "lost_lease" });

      expect(await idsOf()).toEqual({ ids: "", hasMore: false });
    });

    test("can be removed, and its items stay in the conversation", async () => {
      await start("conv_1");
      await end(await create("resp_1", { input: [inputItem("b")], ...place() }), "completed");

      await context.store.remove("ann", "resp_1");

      expect(await idsOf()).toEqual({ ids: "b msg_1", hasMore: false });
      expect(await context.store.items("ann", ["b"])).toEqual([inputItem("b")]);
    });

    test("is refused if the conversation changed after it was planned", async () => {
      await expect(create("resp_1", place())).rejects.toMatchObject({ code: "unknown_conversation" });
      await start("conv_1");
      await context.store.addConversationItems("ann", "conv_1", [inputItem("a")]);

      await expect(create("resp_1", place({ version: 0 }))).rejects.toMatchObject({
        code: "conversation_changed",
      });
      await create("resp_1", place({ version: 1 }));
    });
  });

  describe("the runs of a conversation", () => {
    test("begin one at a time: another is refused, or waits", async () => {
      await start("conv_1");
      await start("conv_2");
      const first = await create("resp_1", place());

      await expect(create("resp_2", place({ mustBeFree: false }))).rejects.toMatchObject({
        code: "conversation_busy",
      });
      await expect(create("resp_2", { status: "queued", ...place() })).rejects.toMatchObject({
        code: "conversation_busy",
      });
      await create("resp_2", { status: "queued", ...place({ mustBeFree: false }) });
      // An older one by its time, but it came later.
      await create("resp_3", { status: "queued", createdAtMs: 1, ...place({ mustBeFree: false }) });
      await create("resp_4", { status: "queued", ...place({ id: "conv_2" }) });
      expect((await claim()).map(({ responseId }) => responseId)).toEqual(["resp_4"]);
      expect(await context.store.readConversation("ann", "conv_1")).toMatchObject({ isBusy: true });

      await end(first, "completed");

      const [second, ...others] = await claim();
      expect([second?.responseId, others]).toEqual(["resp_2", []]);
      await context.store.remove("ann", "resp_2");
      expect((await claim()).map(({ responseId }) => responseId)).toEqual(["resp_3"]);
    });

    test("are claimed by another worker after a crash, before those that wait", async () => {
      await start("conv_1");
      await create("resp_1", place());
      await create("resp_2", { status: "queued", ...place({ mustBeFree: false }) });

      context.advance(30_000);

      expect((await claim("worker-3")).map(({ responseId }) => responseId)).toEqual(["resp_1"]);
    });

    test("can be claimed out of order when they are to be cancelled", async () => {
      await start("conv_1");
      await create("resp_1", place());
      await create("resp_2", { status: "queued", ...place({ mustBeFree: false }) });
      expect(await claim()).toEqual([]);

      await context.store.requestCancel("ann", "resp_2");

      expect((await claim()).map(({ responseId }) => responseId)).toEqual(["resp_2"]);
    });
  });
}
