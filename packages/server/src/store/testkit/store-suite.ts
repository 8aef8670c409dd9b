// What every store must do. Each test gets a new store, and a clock that moves only when it is told to.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canMove, type ResponseStatus } from "../../protocol/status.ts";
import type { Lease, Store } from "../store.ts";
import { events, inputItem, message, newResponse, output, write } from "./build.ts";

export interface OpenedStore {
  store: Store;
  /** Removes what the store has left behind. */
  dispose?: () => void;
}

export function storeSuite(name: string, open: (now: () => number) => OpenedStore): void {
  describe(`${name}`, () => {
    let nowMs = 0;
    let store: Store;
    let dispose: OpenedStore["dispose"];

    beforeEach(() => {
      nowMs = 1_000_000;
      ({ store, dispose } = open(() => nowMs));
    });

    afterEach(async () => {
      await store.close();
      dispose?.();
    });

    const create = (id: string, given = {}) => store.create(newResponse(id, given), "worker-1", 30_000);
    const claim = (worker = "worker-2", limit = 10) => store.claim(worker, { leaseMs: 30_000, limit });
    const allEvents = (owner: string, id: string) => store.events(owner, id, -1, 1000);

    /** A response in this state, and the lease that led to it. */
    async function createIn(status: ResponseStatus, id = "resp_1"): Promise<Lease> {
      await create(id, { status: "queued" });
      const [lease] = await claim();
      if (lease === undefined) throw new Error("There was nothing to claim.");
      if (status !== "queued") await store.commit(lease, write({ update: { status: "in_progress" } }));
      if (status !== "queued" && status !== "in_progress")
        await store.commit(lease, write({ update: { status } }));
      return lease;
    }

    describe("a new response", () => {
      test("is given back as it was created", async () => {
        await create("resp_1", { previousResponseId: "resp_0", background: false, createdAtMs: 1234 });

        expect(await store.get("ann", "resp_1")).toEqual({
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

        expect(await store.input("ann", "resp_1", { limit: 10, order: "asc" })).toEqual({
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
        await store.commit(running, write({ events: events(0, 0) }));
        await expect(store.commit(waiting, write({ events: events(0, 0) }))).rejects.toMatchObject({
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
        expect(await store.get("ann", "resp_2")).toBeUndefined();
        expect(await store.items("ann", ["b", "c"])).toEqual([]);
      });

      test("may have an item id that another owner has: ids tell nothing about others", async () => {
        await create("resp_1", { input: [inputItem("a", "Ann's")] });
        await create("resp_2", { owner: "bob", input: [inputItem("a", "Bob's")] });

        expect(await store.items("ann", ["a"])).toEqual([inputItem("a", "Ann's")]);
        expect(await store.items("bob", ["a"])).toEqual([inputItem("a", "Bob's")]);
      });

      test("must have events that start with 0", async () => {
        await expect(create("resp_1", { events: events(1, 2) })).rejects.toMatchObject({
          code: "out_of_order",
        });
        expect(await store.get("ann", "resp_1")).toBeUndefined();
      });

      test("does not change with the objects that went in or came out", async () => {
        const item = inputItem("a");
        const request = { instructions: "Be brief." };
        const created = create("resp_1", { input: [item], request });
        item["content"] = "changed";
        request.instructions = "changed";
        const lease = await created;
        const answer = message("msg_1", "in_progress", "Hello");
        const committed = store.commit(lease, write({ output: [output(0, answer)] }));
        answer.status = "completed";
        await committed;

        const { links } = await store.chain("ann", "resp_1");
        Object.assign(links[0]?.response.request ?? {}, { instructions: "changed" });
        Object.assign(links[0]?.input[0] ?? {}, { content: "changed" });

        const again = await store.resume(lease);
        expect(again.response.request).toEqual({ instructions: "Be brief." });
        expect(again.input).toEqual([inputItem("a")]);
        expect(again.output).toEqual([output(0, message("msg_1", "in_progress", "Hello"))]);
      });
    });

    describe("a commit", () => {
      test("adds events, output, steps and changes of the response", async () => {
        const lease = await create("resp_1", { events: events(0, 0) });
        const usage = {
          input_tokens: 1,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 2,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 3,
        };
        const error = { type: "server_error", code: "model_failed", message: "It broke.", param: null };

        await store.commit(
          lease,
          write({ events: events(1, 2), output: [output(0, message("msg_1"))], steps: [{ kind: "first" }] }),
        );
        await store.commit(lease, {
          events: events(3, 3),
          output: [output(1, message("msg_2"), 1)],
          steps: [{ kind: "second" }, { kind: "third" }],
          update: { status: "failed", completedAtMs: 2000, error, usage, incompleteReason: "max_tool_calls" },
          isDurable: true,
        });

        expect(await store.resume(lease)).toEqual({
          response: {
            ...(await store.get("ann", "resp_1")),
            status: "failed",
            completedAtMs: 2000,
            error,
            usage,
            incompleteReason: "max_tool_calls",
          },
          input: [],
          output: [output(0, message("msg_1")), output(1, message("msg_2"), 1)],
          steps: [{ kind: "first" }, { kind: "second" }, { kind: "third" }],
          lastSequence: 3,
        });
        expect(await allEvents("ann", "resp_1")).toEqual(events(0, 3));
        expect(await store.output("ann", "resp_1")).toHaveLength(2);
      });

      test("leaves what it does not name", async () => {
        const lease = await create("resp_1");
        await store.commit(lease, write({ update: { incompleteReason: "max_output_tokens" } }));
        await store.commit(lease, write({ update: { status: "incomplete" } }));

        expect(await store.get("ann", "resp_1")).toMatchObject({
          status: "incomplete",
          incompleteReason: "max_output_tokens",
          completedAtMs: null,
        });
      });

      test.each([
        ["leaves a gap", events(3, 3)],
        ["says one again", events(1, 1)],
        ["has a gap inside", [...events(2, 2), ...events(4, 4)]],
      ])("is refused when its events are out of order: it %s", async (_, wrong) => {
        const lease = await create("resp_1", { events: events(0, 1) });

        await expect(store.commit(lease, write({ events: wrong }))).rejects.toMatchObject({
          code: "out_of_order",
        });
        expect(await allEvents("ann", "resp_1")).toEqual(events(0, 1));
      });

      test("replaces an item that was in progress, also within itself, and then freezes it", async () => {
        const lease = await create("resp_1");
        await store.commit(lease, write({ output: [output(0, message("msg_1", "in_progress", "He"))] }));
        await store.commit(
          lease,
          write({
            output: [
              output(0, message("msg_1", "in_progress", "Hell")),
              output(0, message("msg_1", "completed", "Hello")),
            ],
          }),
        );

        const thaw = store.commit(lease, write({ output: [output(0, message("msg_1", "in_progress"))] }));
        await expect(thaw).rejects.toMatchObject({ code: "frozen_item" });
        const same = store.commit(
          lease,
          write({ output: [output(0, message("msg_1", "completed", "Hello"))] }),
        );
        await expect(same).rejects.toMatchObject({ code: "frozen_item" });
        expect(await store.output("ann", "resp_1")).toEqual([
          output(0, message("msg_1", "completed", "Hello")),
        ]);
        expect(await store.items("ann", ["msg_1"])).toEqual([message("msg_1", "completed", "Hello")]);
      });

      test("freezes an item that it finishes itself", async () => {
        const lease = await create("resp_1");
        const twice = [output(0, message("msg_1", "failed")), output(0, message("msg_1", "completed"))];

        await expect(store.commit(lease, write({ output: twice }))).rejects.toMatchObject({
          code: "frozen_item",
        });
        expect(await store.output("ann", "resp_1")).toEqual([]);
      });

      test("cannot put another item at an index, nor an item at another index", async () => {
        const lease = await create("resp_1", { input: [inputItem("a")] });
        await store.commit(lease, write({ output: [output(0, message("msg_1", "in_progress"))] }));
        const other = await create("resp_2");

        const put = (used: Lease, index: number, id: string) =>
          store.commit(used, write({ output: [output(index, message(id))] }));
        await expect(put(lease, 0, "msg_2")).rejects.toMatchObject({ code: "out_of_order" });
        await expect(put(lease, 1, "msg_1")).rejects.toMatchObject({ code: "duplicate_id" });
        await expect(put(lease, 1, "a")).rejects.toMatchObject({ code: "duplicate_id" });
        await expect(put(other, 0, "msg_1")).rejects.toMatchObject({ code: "duplicate_id" });
        expect(await store.output("ann", "resp_1")).toEqual([output(0, message("msg_1", "in_progress"))]);
      });

      test("is written whole or not at all, and does not harm others of the same tick", async () => {
        const lease = await create("resp_1");
        const other = await create("resp_2");
        const good = {
          events: events(0, 0),
          steps: [{ kind: "step" }],
          update: { status: "completed" as const },
        };

        const results = await Promise.allSettled([
          store.commit(other, write({ events: events(0, 0) })),
          store.commit(lease, write({ ...good, output: [output(0, message("x")), output(0, message("y"))] })),
          store.commit(other, write({ events: events(1, 1) })),
        ]);

        expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
        expect(await store.resume(lease)).toMatchObject({
          response: { status: "in_progress" },
          output: [],
          steps: [],
          lastSequence: -1,
        });
        expect(await allEvents("ann", "resp_2")).toEqual(events(0, 1));
      });
    });

    describe("the status", () => {
      const all: ResponseStatus[] = [
        "queued",
        "in_progress",
        "completed",
        "incomplete",
        "failed",
        "cancelled",
        "requires_action",
      ];

      test.each(all)("of a response that is %s changes only as the rules say", async (from) => {
        for (const to of all) {
          const lease = await createIn(from, `${from}-${to}`);
          const [moved] = await Promise.allSettled([store.commit(lease, write({ update: { status: to } }))]);
          const refusal = { status: "rejected", reason: { code: "illegal_transition" } };
          expect(moved).toMatchObject(canMove(from, to) ? { status: "fulfilled" } : refusal);
          expect(await store.get("ann", `${from}-${to}`)).toMatchObject({
            status: canMove(from, to) ? to : from,
          });
          await store.remove("ann", `${from}-${to}`);
        }
      });

      test("cannot be made final twice by two that race", async () => {
        const lease = await create("resp_1");

        const results = await Promise.allSettled([
          store.commit(lease, write({ update: { status: "completed" } })),
          store.commit(lease, write({ update: { status: "cancelled" } })),
        ]);

        expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
        expect(await store.get("ann", "resp_1")).toMatchObject({ status: "completed" });
      });

      test("that is final lets nothing be added", async () => {
        const lease = await createIn("completed");

        await expect(store.commit(lease, write({ events: events(0, 0) }))).rejects.toMatchObject({
          code: "illegal_transition",
        });
        expect(await allEvents("ann", "resp_1")).toEqual([]);
      });
    });

    describe("a lease", () => {
      test("goes to one worker only, oldest response first, without a change of the status", async () => {
        await create("resp_b", { status: "queued", createdAtMs: 2000 });
        await create("resp_c", { status: "queued", createdAtMs: 2000 });
        await create("resp_a", { status: "queued", createdAtMs: 3000 });
        await create("running");

        const [first, second] = await Promise.all([claim("worker-2", 2), claim("worker-3", 2)]);

        expect(first.map((claimed) => claimed.responseId)).toEqual(["resp_b", "resp_c"]);
        expect(second.map((claimed) => claimed.responseId)).toEqual(["resp_a"]);
        expect(first[0]).toEqual({
          responseId: "resp_b",
          fence: 1,
          attempts: 1,
          response: await store.get("ann", "resp_b"),
        });
        expect(first[0]?.response.status).toBe("queued");
        expect(await claim()).toEqual([]);
      });

      test("can be claimed by another when its time is over, and then the first cannot write", async () => {
        const first = await create("resp_1");
        nowMs += 29_999;
        expect(await claim()).toEqual([]);
        nowMs += 1;
        // Late, but nobody else has it yet.
        await store.commit(first, write({ events: events(0, 0) }));

        const [second] = await claim();

        expect(second).toMatchObject({ responseId: "resp_1", fence: 2, attempts: 1 });
        await expect(store.commit(first, write({ events: events(1, 1) }))).rejects.toMatchObject({
          code: "lost_lease",
        });
        await expect(store.resume(first)).rejects.toMatchObject({ code: "lost_lease" });
        expect(await store.renew([first], 30_000)).toEqual([]);
        await store.release(first);
        if (second) await store.commit(second, write({ events: events(1, 1) }));
        expect(await claim()).toEqual([]);
      });

      test("lasts longer when it is renewed, and shows the wish to cancel", async () => {
        const one = await create("resp_1");
        const two = await create("resp_2");
        await store.requestCancel("ann", "resp_2");
        nowMs += 20_000;

        const renewed = await store.renew([one, two, { responseId: "nobody", fence: 1 }], 30_000);

        expect(renewed).toEqual([
          { responseId: "resp_1", isCancelRequested: false },
          { responseId: "resp_2", isCancelRequested: true },
        ]);
        nowMs += 29_999;
        expect(await claim()).toEqual([]);
      });

      test("that is released can be claimed at once, and is over for the one who held it", async () => {
        const lease = await create("resp_1");
        await store.release(lease);

        await expect(store.commit(lease, write({}))).rejects.toMatchObject({ code: "lost_lease" });
        expect(await store.renew([lease], 30_000)).toEqual([]);
        expect(await claim()).toMatchObject([{ responseId: "resp_1", fence: 2 }]);
      });

      test("counts how often it was claimed since the last step", async () => {
        await create("resp_1", { status: "queued" });
        const attempts: number[] = [];
        for (const makesProgress of [false, false, true, false]) {
          const [lease] = await claim();
          if (lease === undefined) throw new Error("There was nothing to claim.");
          attempts.push(lease.attempts);
          await store.commit(lease, write(makesProgress ? { steps: [{ kind: "step" }] } : {}));
          await store.release(lease);
        }
        const [last] = await claim();

        expect([...attempts, last?.attempts]).toEqual([1, 2, 3, 1, 2]);
      });

      test.each(["completed", "incomplete", "failed", "cancelled", "requires_action"] as const)(
        "is not given for a response that is %s",
        async (status) => {
          await createIn(status);
          nowMs += 100_000;

          expect(await claim()).toEqual([]);
        },
      );
    });

    describe("the wish to cancel", () => {
      test("is noted, and given with the next claim", async () => {
        await create("resp_1", { status: "queued" });

        expect(await store.requestCancel("ann", "resp_1")).toMatchObject({
          status: "queued",
          isCancelRequested: true,
        });
        expect(await claim()).toMatchObject([{ response: { isCancelRequested: true } }]);
      });

      test("changes nothing once the response is over, or if there is none", async () => {
        await createIn("completed");

        expect(await store.requestCancel("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
        expect(await store.get("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
        expect(await store.requestCancel("ann", "resp_2")).toBeUndefined();
      });
    });

    describe("a removed response", () => {
      test("is gone with all that belongs to it, and its lease is over", async () => {
        const lease = await create("resp_1", { input: [inputItem("a")], events: events(0, 0) });
        await store.commit(
          lease,
          write({ output: [output(0, message("msg_1"))], steps: [{ kind: "step" }] }),
        );

        expect(await store.remove("ann", "resp_1")).toBe(true);

        expect(await store.remove("ann", "resp_1")).toBe(false);
        expect(await store.get("ann", "resp_1")).toBeUndefined();
        expect(await store.output("ann", "resp_1")).toEqual([]);
        expect(await store.items("ann", ["a", "msg_1"])).toEqual([]);
        expect(await allEvents("ann", "resp_1")).toEqual([]);
        await expect(store.commit(lease, write({}))).rejects.toMatchObject({ code: "lost_lease" });
        await create("resp_1", { input: [inputItem("a")] });
        expect(await allEvents("ann", "resp_1")).toEqual([]);
        expect((await store.chain("ann", "resp_1")).links[0]).toMatchObject({ output: [], steps: [] });
      });

      test("that its worker removes in the same tick takes no more writes", async () => {
        const lease = await create("resp_1");

        const results = await Promise.allSettled([
          store.remove("ann", "resp_1"),
          store.commit(lease, write({ events: events(0, 0) })),
        ]);

        expect(results).toMatchObject([{ value: true }, { reason: { code: "lost_lease" } }]);
      });
    });

    test("nothing of one owner is there for another", async () => {
      const lease = await create("resp_1", { input: [inputItem("a")], events: events(0, 0) });
      await store.commit(lease, write({ output: [output(0, message("msg_1"))] }));
      await create("resp_2", { owner: "bob", previousResponseId: "resp_1" });

      expect(await store.get("bob", "resp_1")).toBeUndefined();
      expect(await store.output("bob", "resp_1")).toEqual([]);
      expect(await store.input("bob", "resp_1", { limit: 10, order: "asc" })).toEqual({
        data: [],
        hasMore: false,
      });
      expect(await store.items("bob", ["a", "msg_1"])).toEqual([]);
      expect(await allEvents("bob", "resp_1")).toEqual([]);
      expect(await store.chain("bob", "resp_1")).toEqual({ links: [], missing: "resp_1" });
      expect(await store.chain("bob", "resp_2")).toEqual({ links: [], missing: "resp_1" });
      expect(await store.requestCancel("bob", "resp_1")).toBeUndefined();
      expect(await store.remove("bob", "resp_1")).toBe(false);
      const list = await store.list("bob", { limit: 10, order: "desc" });
      expect(list.data.map((response) => response.id)).toEqual(["resp_2"]);
      await expect(store.list("bob", { limit: 10, order: "desc", after: "resp_1" })).rejects.toMatchObject({
        code: "unknown_cursor",
      });
      expect(await store.get("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
    });

    describe("a list of responses", () => {
      // Two of each age, so that the order needs the id as well.
      const ids = ["r0", "r1", "r2", "r3", "r4", "r5"];
      beforeEach(async () => {
        for (const [i, id] of ids.entries()) {
          await create(id, {
            createdAtMs: 1000 + Math.floor(i / 2),
            model: i % 2 === 0 ? "small" : "large",
            background: i < 3,
            status: i < 5 ? "in_progress" : "queued",
          });
        }
        await create("other", { owner: "bob" });
      });

      const idsOf = async (options: Partial<Parameters<Store["list"]>[1]>) => {
        const { data, hasMore } = await store.list("ann", { limit: 100, order: "asc", ...options });
        return { ids: data.map((response) => response.id).join(" "), hasMore };
      };

      test("is ordered by age and id, either way", async () => {
        expect(await idsOf({})).toEqual({ ids: "r0 r1 r2 r3 r4 r5", hasMore: false });
        expect(await idsOf({ order: "desc" })).toEqual({ ids: "r5 r4 r3 r2 r1 r0", hasMore: false });
      });

      test("comes in pages, and says exactly whether there are more", async () => {
        expect(await idsOf({ limit: 6 })).toEqual({ ids: "r0 r1 r2 r3 r4 r5", hasMore: false });
        expect(await idsOf({ limit: 5 })).toEqual({ ids: "r0 r1 r2 r3 r4", hasMore: true });
        expect(await idsOf({ limit: 2, after: "r1" })).toEqual({ ids: "r2 r3", hasMore: true });
        expect(await idsOf({ limit: 2, after: "r3" })).toEqual({ ids: "r4 r5", hasMore: false });
        expect(await idsOf({ limit: 2, after: "r5" })).toEqual({ ids: "", hasMore: false });
        expect(await idsOf({ limit: 2, order: "desc", after: "r4" })).toEqual({
          ids: "r3 r2",
          hasMore: true,
        });
      });

      test("goes back from a cursor to the page that ends before it", async () => {
        expect(await idsOf({ limit: 2, before: "r4" })).toEqual({ ids: "r2 r3", hasMore: true });
        expect(await idsOf({ limit: 2, before: "r2" })).toEqual({ ids: "r0 r1", hasMore: false });
        expect(await idsOf({ limit: 2, order: "desc", before: "r1" })).toEqual({
          ids: "r3 r2",
          hasMore: true,
        });
        expect(await idsOf({ limit: 2, after: "r0", before: "r4" })).toEqual({ ids: "r1 r2", hasMore: true });
        expect(await idsOf({ limit: 3, after: "r0", before: "r4" })).toEqual({
          ids: "r1 r2 r3",
          hasMore: false,
        });
        expect(await idsOf({ after: "r4", before: "r0" })).toEqual({ ids: "", hasMore: false });
      });

      test("can be narrowed down, also with a cursor that does not match", async () => {
        expect(await idsOf({ model: "large" })).toEqual({ ids: "r1 r3 r5", hasMore: false });
        expect(await idsOf({ status: "queued" })).toEqual({ ids: "r5", hasMore: false });
        expect(await idsOf({ background: true, limit: 2 })).toEqual({ ids: "r0 r1", hasMore: true });
        expect(await idsOf({ background: false, model: "large" })).toEqual({ ids: "r3 r5", hasMore: false });
        expect(await idsOf({ model: "large", limit: 1, after: "r2" })).toEqual({ ids: "r3", hasMore: true });
        expect(await idsOf({ status: "failed" })).toEqual({ ids: "", hasMore: false });
      });

      test.each(["after", "before"])("refuses an unknown id as %s", async (parameter) => {
        await expect(idsOf({ [parameter]: "r9" })).rejects.toMatchObject({ code: "unknown_cursor" });
      });
    });

    describe("a list of input items", () => {
      beforeEach(async () => {
        const lease = await create("resp_1", { input: ["c", "a", "d", "b"].map((id) => inputItem(id)) });
        await store.commit(lease, write({ output: [output(0, message("msg_1"))] }));
        await create("resp_2", { input: [inputItem("e")] });
      });

      const idsOf = async (options: Partial<Parameters<Store["input"]>[2]>) => {
        const { data, hasMore } = await store.input("ann", "resp_1", {
          limit: 100,
          order: "asc",
          ...options,
        });
        return { ids: data.map((item) => item.id).join(" "), hasMore };
      };

      test("is in the order of the request, either way, in pages", async () => {
        expect(await idsOf({})).toEqual({ ids: "c a d b", hasMore: false });
        expect(await idsOf({ order: "desc", limit: 3 })).toEqual({ ids: "b d a", hasMore: true });
        expect(await idsOf({ limit: 2, after: "c" })).toEqual({ ids: "a d", hasMore: true });
        expect(await idsOf({ limit: 2, order: "desc", after: "d" })).toEqual({ ids: "a c", hasMore: false });
        expect(await idsOf({ limit: 1, before: "d" })).toEqual({ ids: "a", hasMore: true });
      });

      test.each(["e", "msg_1", "nothing"])("refuses a cursor that is not one of them: %s", async (after) => {
        await expect(idsOf({ after })).rejects.toMatchObject({ code: "unknown_cursor" });
      });
    });

    describe("a chain", () => {
      const createChain = async () => {
        for (const [i, previousResponseId] of [null, "r0", "r1"].entries()) {
          const id = `r${i}`;
          // The clock may go back between two responses. Their order must not.
          const given = { previousResponseId, createdAtMs: 5000 - i, input: [inputItem(`in_${i}`)] };
          const lease = await create(id, given);
          const items = [output(0, message(`msg_${i}`)), output(1, message(`more_${i}`), 1)];
          await store.commit(lease, write({ output: items, steps: [{ kind: "step", of: id }] }));
        }
      };

      test("has all responses with their items and steps, oldest first", async () => {
        await createChain();

        const { links, missing } = await store.chain("ann", "r2");

        expect(missing).toBeUndefined();
        expect(links).toEqual(
          await Promise.all(
            [0, 1, 2].map(async (i) => ({
              response: await store.get("ann", `r${i}`),
              input: [inputItem(`in_${i}`)],
              output: [output(0, message(`msg_${i}`)), output(1, message(`more_${i}`), 1)],
              steps: [{ kind: "step", of: `r${i}` }],
            })),
          ),
        );
        expect((await store.chain("ann", "r0")).links).toHaveLength(1);
      });

      test("names the response that is missing, whether the first, or one in between", async () => {
        await createChain();

        expect(await store.chain("ann", "r9")).toEqual({ links: [], missing: "r9" });
        await store.remove("ann", "r1");
        expect(await store.chain("ann", "r2")).toEqual({ links: [], missing: "r1" });
      });

      test("cannot be a circle, nor lead to a later response", async () => {
        await create("r0", { previousResponseId: "r0" });
        await create("r1", { previousResponseId: "r2" });
        await create("r2", { previousResponseId: "r1" });

        expect(await store.chain("ann", "r0")).toEqual({ links: [], missing: "r0" });
        expect(await store.chain("ann", "r2")).toEqual({ links: [], missing: "r2" });
      });
    });

    test("items are found by their ids, input and output, each once", async () => {
      const lease = await create("resp_1", { input: [inputItem("a"), inputItem("b")] });
      await store.commit(lease, write({ output: [output(0, message("msg_1"))] }));

      const found = await store.items("ann", ["msg_1", "a", "nothing", "a"]);

      expect(found).toHaveLength(2);
      expect(found).toEqual(expect.arrayContaining([inputItem("a"), message("msg_1")]));
      expect(await store.items("ann", [])).toEqual([]);
    });

    test("events are read from any place, as many as are wanted", async () => {
      const lease = await create("resp_1", { events: events(0, 4) });
      await create("resp_2", { events: events(0, 9) });
      await store.commit(lease, write({ events: events(5, 6) }));

      expect(await store.events("ann", "resp_1", -1, 3)).toEqual(events(0, 2));
      expect(await store.events("ann", "resp_1", 3, 100)).toEqual(events(4, 6));
      expect(await store.events("ann", "resp_1", 6, 100)).toEqual([]);
    });

    describe("expiry", () => {
      test("removes what has ended before, and nothing that still runs", async () => {
        for (const [id, completedAtMs] of [["old", 1999] as const, ["new", 2000] as const]) {
          const lease = await create(id, { input: [inputItem(`in_${id}`)] });
          await store.commit(lease, write({ update: { status: "completed", completedAtMs } }));
        }
        await create("running", { createdAtMs: 0 });

        expect(await store.expire(2000)).toBe(1);

        expect(await store.get("ann", "old")).toBeUndefined();
        expect(await store.items("ann", ["in_old"])).toEqual([]);
        expect(await store.get("ann", "new")).toBeDefined();
        expect(await store.get("ann", "running")).toBeDefined();
      });

      test("takes the time of the last commit for a response that does not say when it ended", async () => {
        await createIn("cancelled");

        expect(await store.expire(nowMs)).toBe(0);
        expect(await store.expire(nowMs + 1)).toBe(1);
      });

      test("removes any number", async () => {
        const leases = await Promise.all(Array.from({ length: 250 }, (_, i) => create(`r${i}`)));
        const update = { status: "failed" as const, completedAtMs: 1 };
        await Promise.all(leases.map((lease) => store.commit(lease, write({ update }))));

        expect(await store.expire(2)).toBe(250);
        expect((await store.list("ann", { limit: 1, order: "asc" })).data).toEqual([]);
      });
    });

    test("the first secret of a name stays", async () => {
      expect(await Promise.all([store.keepSecret("a", "1"), store.keepSecret("a", "2")])).toEqual(["1", "1"]);
      expect(await store.keepSecret("b", "3")).toBe("3");
    });

    describe("a closed store", () => {
      test("has written what it was given before", async () => {
        const lease = await create("resp_1");
        const pending = store.commit(lease, write({ events: events(0, 0) }));
        await store.close();

        await expect(pending).resolves.toBeUndefined();
      });

      test("refuses everything, and can be closed again", async () => {
        const lease = await create("resp_1");
        await store.check();
        await store.close();
        await store.close();

        const calls = [
          store.get("ann", "resp_1"),
          store.list("ann", { limit: 1, order: "asc" }),
          store.chain("ann", "resp_1"),
          create("resp_2"),
          store.commit(lease, write({})),
          store.resume(lease),
          claim(),
          store.expire(1),
          store.check(),
        ];
        for (const call of calls) {
          await expect(call).rejects.toMatchObject({
            code: "unavailable",
            message: "The store is closed. Open it again to use it.",
          });
        }
      });
    });
  });
}
