// What every store must write, and what it must refuse.

import { describe, expect, test } from "vitest";
import { canMove, type ResponseStatus } from "../../../protocol/status.ts";
import type { Lease } from "../../run-queue.ts";
import type { StoredOutput } from "../../store.ts";
import { events, inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function commitTests(context: SuiteContext): void {
  const { create, createIn, allEvents } = context;

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

      await context.store.commit(
        lease,
        write({ events: events(1, 2), output: [output(0, message("msg_1"))], steps: [{ kind: "first" }] }),
      );
      await context.store.commit(lease, {
        events: events(3, 3),
        output: [output(1, message("msg_2"), 1)],
        steps: [{ kind: "second" }, { kind: "third" }],
        update: { status: "failed", completedAtMs: 2000, error, usage, incompleteReason: "max_tool_calls" },
        isDurable: true,
      });

      expect(await context.store.get("ann", "resp_1")).toMatchObject({
        status: "failed",
        completedAtMs: 2000,
        error,
        usage,
        incompleteReason: "max_tool_calls",
      });
      expect(await context.store.resume(lease)).toEqual({
        input: [],
        output: [output(0, message("msg_1")), output(1, message("msg_2"), 1)],
        steps: [{ kind: "first" }, { kind: "second" }, { kind: "third" }],
        lastSequence: 3,
        trace: { next: 0, bytes: 0 },
      });
      expect(await allEvents("ann", "resp_1")).toEqual(events(0, 3));
      expect(await context.store.output("ann", "resp_1")).toHaveLength(2);
    });

    test("leaves what it does not name", async () => {
      const lease = await create("resp_1");
      await context.store.commit(lease, write({ update: { incompleteReason: "max_output_tokens" } }));
      await context.store.commit(lease, write({ update: { status: "incomplete" } }));

      expect(await context.store.get("ann", "resp_1")).toMatchObject({
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

      await expect(context.store.commit(lease, write({ events: wrong }))).rejects.toMatchObject({
        code: "out_of_order",
      });
      expect(await allEvents("ann", "resp_1")).toEqual(events(0, 1));
    });

    test("replaces an item that was in progress, also within itself, and then freezes it", async () => {
      const lease = await create("resp_1");
      await context.store.commit(
        lease,
        write({ output: [output(0, message("msg_1", "in_progress", "He"))] }),
      );
      await context.store.commit(
        lease,
        write({
          output: [
            output(0, message("msg_1", "in_progress", "Hell")),
            output(0, message("msg_1", "completed", "Hello")),
          ],
        }),
      );

      const thaw = context.store.commit(
        lease,
        write({ output: [output(0, message("msg_1", "in_progress"))] }),
      );
      await expect(thaw).rejects.toMatchObject({ code: "frozen_item" });
      const same = context.store.commit(
        lease,
        write({ output: [output(0, message("msg_1", "completed", "Hello"))] }),
      );
      await expect(same).rejects.toMatchObject({ code: "frozen_item" });
      expect(await context.store.output("ann", "resp_1")).toEqual([
        output(0, message("msg_1", "completed", "Hello")),
      ]);
      expect(await context.store.items("ann", ["msg_1"])).toEqual([message("msg_1", "completed", "Hello")]);
    });

    test("freezes an item that it finishes itself", async () => {
      const lease = await create("resp_1");
      const twice = [output(0, message("msg_1", "incomplete")), output(0, message("msg_1", "completed"))];

      await expect(context.store.commit(lease, write({ output: twice }))).rejects.toMatchObject({
        code: "frozen_item",
      });
      expect(await context.store.output("ann", "resp_1")).toEqual([]);
    });

    test("cannot put another item at an index, nor an item at another index", async () => {
      const lease = await create("resp_1", { input: [inputItem("a")] });
      await context.store.commit(lease, write({ output: [output(0, message("msg_1", "in_progress"))] }));
      const other = await create("resp_2");

      const put = (used: Lease, index: number, id: string) =>
        context.store.commit(used, write({ output: [output(index, message(id))] }));
      await expect(put(lease, 0, "msg_2")).rejects.toMatchObject({ code: "out_of_order" });
      await expect(put(lease, 1, "msg_1")).rejects.toMatchObject({ code: "duplicate_id" });
      await expect(put(lease, 1, "a")).rejects.toMatchObject({ code: "duplicate_id" });
      await expect(put(other, 0, "msg_1")).rejects.toMatchObject({ code: "duplicate_id" });
      expect(await context.store.output("ann", "resp_1")).toEqual([
        output(0, message("msg_1", "in_progress")),
      ]);
    });

    test("is refused for the first of its faults", async () => {
      const lease = await create("resp_1");
      await context.store.commit(lease, write({ output: [output(0, message("msg_1"))] }));
      const [frozen, taken] = [output(0, message("msg_1")), output(1, message("msg_1"))];
      const twice = [output(2, message("msg_2")), output(3, message("msg_2"))];
      const misplaced = output(2, message("msg_3"));
      const put = (...items: StoredOutput[]) => context.store.commit(lease, write({ output: items }));
      await expect(put(frozen, ...twice)).rejects.toMatchObject({ code: "frozen_item" });
      await expect(put(...twice, frozen)).rejects.toMatchObject({ code: "duplicate_id" });
      await expect(put(taken, ...twice, misplaced)).rejects.toMatchObject({ code: "duplicate_id" });
      await expect(put(twice[0] as StoredOutput, misplaced, taken)).rejects.toMatchObject({
        code: "out_of_order",
      });
      expect(await context.store.output("ann", "resp_1")).toEqual([output(0, message("msg_1"))]);
    });

    test("is written completely or not at all, and does not affect others of the same tick", async () => {
      const lease = await create("resp_1");
      const other = await create("resp_2");
      const good = {
        events: events(0, 0),
        steps: [{ kind: "step" }],
        update: { status: "completed" as const },
      };

      const results = await Promise.allSettled([
        context.store.commit(other, write({ events: events(0, 0) })),
        context.store.commit(
          lease,
          write({ ...good, output: [output(0, message("x")), output(0, message("y"))] }),
        ),
        context.store.commit(other, write({ events: events(1, 1) })),
      ]);

      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await context.store.get("ann", "resp_1")).toMatchObject({ status: "in_progress" });
      expect(await context.store.resume(lease)).toMatchObject({
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
        const [moved] = await Promise.allSettled([
          context.store.commit(lease, write({ update: { status: to } })),
        ]);
        const refusal = { status: "rejected", reason: { code: "illegal_transition" } };
        expect(moved).toMatchObject(canMove(from, to) ? { status: "fulfilled" } : refusal);
        expect(await context.store.get("ann", `${from}-${to}`)).toMatchObject({
          status: canMove(from, to) ? to : from,
        });
        await context.store.remove("ann", `${from}-${to}`);
      }
    });

    test("cannot be made final twice by two that race", async () => {
      const lease = await create("resp_1");

      const results = await Promise.allSettled([
        context.store.commit(lease, write({ update: { status: "completed" } })),
        context.store.commit(lease, write({ update: { status: "cancelled" } })),
      ]);

      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
      expect(await context.store.get("ann", "resp_1")).toMatchObject({ status: "completed" });
    });

    test("that is final accepts no more writes", async () => {
      const lease = await createIn("completed");

      await expect(context.store.commit(lease, write({ events: events(0, 0) }))).rejects.toMatchObject({
        code: "illegal_transition",
      });
      expect(await allEvents("ann", "resp_1")).toEqual([]);
    });
  });
}
