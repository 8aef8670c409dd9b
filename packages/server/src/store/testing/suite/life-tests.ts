// What every store must forget, and what it must not.

import { describe, expect, test } from "vitest";
import { events, inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function lifeTests(context: SuiteContext): void {
  const { create, claim, createIn, allEvents } = context;

  describe("a removed response", () => {
    test("is gone with all that belongs to it, and its lease ends", async () => {
      const lease = await create("resp_1", { input: [inputItem("a")], events: events(0, 0) });
      await context.store.commit(
        lease,
        write({ output: [output(0, message("msg_1"))], steps: [{ kind: "step" }] }),
      );

      expect(await context.store.remove("ann", "resp_1")).toBe(true);

      expect(await context.store.remove("ann", "resp_1")).toBe(false);
      expect(await context.store.get("ann", "resp_1")).toBeUndefined();
      expect(await context.store.output("ann", "resp_1")).toEqual([]);
      expect(await context.store.items("ann", ["a", "msg_1"])).toEqual([]);
      expect(await allEvents("ann", "resp_1")).toEqual([]);
      await expect(context.store.commit(lease, write({}))).rejects.toMatchObject({ code: "lost_lease" });
      await create("resp_1", { input: [inputItem("a")] });
      expect(await allEvents("ann", "resp_1")).toEqual([]);
      expect((await context.store.chain("ann", "resp_1")).links[0]).toMatchObject({ output: [] });
    });

    test("accepts no more writes of the same tick", async () => {
      const lease = await create("resp_1");

      const results = await Promise.allSettled([
        context.store.remove("ann", "resp_1"),
        context.store.commit(lease, write({ events: events(0, 0) })),
      ]);

      expect(results).toMatchObject([{ value: true }, { reason: { code: "lost_lease" } }]);
    });
  });

  describe("credentials", () => {
    test("are for the run alone, and gone when the response ends", async () => {
      await create("resp_1", { status: "queued", credentials: "sealed" });
      const [lease] = await claim();
      if (!lease) throw new Error("Nothing to claim.");
      expect(JSON.stringify(await context.store.get("ann", "resp_1"))).not.toContain("sealed");
      expect((await context.store.resume(lease)).credentials).toBe("sealed");
      await context.store.commit(lease, write({ update: { status: "in_progress" } }));
      expect((await context.store.resume(lease)).credentials).toBe("sealed");
      await context.store.commit(lease, write({ update: { status: "completed", completedAtMs: 5000 } }));
      expect((await context.store.resume(lease)).credentials).toBeUndefined();
    });
  });

  describe("the count of background runs", () => {
    test("separates waiting from running ones, and leaves out ended and foreground ones", async () => {
      expect(await context.store.queue.count()).toEqual({ queued: 0, running: 0 });
      await create("foreground", { background: false });
      await create("bob's", { status: "queued", background: true, owner: "bob" });
      for (const id of ["one", "two", "three", "four"]) {
        await create(id, { status: "queued", background: true });
      }
      const leases = (await claim()).filter((lease) => lease.responseId !== "bob's");
      expect(await context.store.queue.count()).toEqual({ queued: 5, running: 0 });
      const [first, second, third] = leases;
      if (!first || !second || !third) throw new Error("There was too little to claim.");
      for (const lease of [first, second, third])
        await context.store.commit(lease, write({ update: { status: "in_progress" } }));
      await context.store.commit(first, write({ update: { status: "completed" } }));
      await context.store.remove("ann", second.responseId);

      expect(await context.store.queue.count()).toEqual({ queued: 2, running: 1 });
      expect(await context.store.queue.count("ann")).toEqual({ queued: 1, running: 1 });
      expect(await context.store.queue.count("bob")).toEqual({ queued: 1, running: 0 });
      expect(await context.store.queue.count("carl")).toEqual({ queued: 0, running: 0 });
    });
  });

  describe("expiry", () => {
    test("removes what has ended before, and nothing that still runs", async () => {
      for (const [id, completedAtMs] of [["old", 1999] as const, ["new", 2000] as const]) {
        const lease = await create(id, { input: [inputItem(`in_${id}`)] });
        await context.store.commit(lease, write({ update: { status: "completed", completedAtMs } }));
      }
      await create("running", { createdAtMs: 0 });

      expect(await context.store.expire(2000)).toBe(1);

      expect(await context.store.get("ann", "old")).toBeUndefined();
      expect(await context.store.items("ann", ["in_old"])).toEqual([]);
      expect(await context.store.get("ann", "new")).toBeDefined();
      expect(await context.store.get("ann", "running")).toBeDefined();
    });

    test("uses the time of the last commit for a response without an end time", async () => {
      await createIn("cancelled");

      expect(await context.store.expire(context.now())).toBe(0);
      expect(await context.store.expire(context.now() + 1)).toBe(1);
    });

    test("removes any number", async () => {
      const leases = await Promise.all(Array.from({ length: 250 }, (_, i) => create(`r${i}`)));
      const update = { status: "failed" as const, completedAtMs: 1 };
      await Promise.all(leases.map((lease) => context.store.commit(lease, write({ update }))));

      expect(await context.store.expire(2)).toBe(250);
      expect((await context.store.list("ann", { limit: 1, order: "asc" })).data).toEqual([]);
    });
  });

  test("the first secret of a name is kept", async () => {
    expect(
      await Promise.all([context.store.keepSecret("a", "1"), context.store.keepSecret("a", "2")]),
    ).toEqual(["1", "1"]);
    expect(await context.store.keepSecret("b", "3")).toBe("3");
  });

  describe("a closed store", () => {
    test("has written what it accepted before", async () => {
      const lease = await create("resp_1");
      const pending = context.store.commit(lease, write({ events: events(0, 0) }));
      await context.store.close();

      await expect(pending).resolves.toBeUndefined();
    });

    test("refuses everything, and can be closed again", async () => {
      const lease = await create("resp_1");
      await context.store.check();
      await context.store.close();
      await context.store.close();

      const calls = [
        context.store.get("ann", "resp_1"),
        context.store.list("ann", { limit: 1, order: "asc" }),
        context.store.chain("ann", "resp_1"),
        create("resp_2"),
        context.store.commit(lease, write({})),
        context.store.resume(lease),
        claim(),
        context.store.expire(1),
        context.store.check(),
      ];
      for (const call of calls) {
        await expect(call).rejects.toMatchObject({
          code: "unavailable",
          message: "The store is closed. Open it again to use it.",
        });
      }
    });
  });
}
