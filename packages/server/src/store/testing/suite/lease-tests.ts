// What every store must know of who runs a response, and who wants it cancelled.

import { describe, expect, test } from "vitest";
import { events, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function leaseTests(context: SuiteContext): void {
  const { create, claim, createIn } = context;

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
        suspicion: 0,
        response: await context.store.get("ann", "resp_b"),
      });
      expect(first[0]?.response.status).toBe("queued");
      expect(await claim()).toEqual([]);
    });

    test("can be claimed by another when its time is over, and then the first cannot write", async () => {
      const first = await create("resp_1");
      context.advance(29_999);
      expect(await claim()).toEqual([]);
      context.advance(1);
      // Late, but nobody else has it yet.
      await context.store.commit(first, write({ events: events(0, 0) }));

      const [second] = await claim();

      expect(second).toMatchObject({ responseId: "resp_1", fence: 2, attempts: 1 });
      await expect(context.store.commit(first, write({ events: events(1, 1) }))).rejects.toMatchObject({
        code: "lost_lease",
      });
      await expect(context.store.resume(first)).rejects.toMatchObject({ code: "lost_lease" });
      expect(await context.store.queue.renew([first], 30_000)).toEqual([]);
      await context.store.queue.release(first);
      if (second) await context.store.commit(second, write({ events: events(1, 1) }));
      expect(await claim()).toEqual([]);
    });

    test("is extended by a renewal, which reports a requested cancellation", async () => {
      const one = await create("resp_1");
      const two = await create("resp_2");
      await context.store.requestCancel("ann", "resp_2");
      context.advance(20_000);

      const renewed = await context.store.queue.renew([one, two, { responseId: "nobody", fence: 1 }], 30_000);

      expect(renewed).toEqual([
        { responseId: "resp_1", isCancelRequested: false },
        { responseId: "resp_2", isCancelRequested: true },
      ]);
      context.advance(29_999);
      expect(await claim()).toEqual([]);
    });

    test("that expires first determines the next expiry", async () => {
      const { queue } = context.store;
      expect(await queue.nextExpiryMs()).toBeUndefined();
      const one = await create("resp_1");
      context.advance(10_000);
      const two = await create("resp_2");
      await create("resp_3", { status: "queued" });
      expect(await queue.nextExpiryMs()).toBe(20_000);
      await queue.renew([one], 60_000);
      expect(await queue.nextExpiryMs()).toBe(30_000);
      await queue.release(two);
      expect(await queue.nextExpiryMs()).toBe(60_000);
      await context.store.commit(one, write({ update: { status: "completed" } }));
      expect(await queue.nextExpiryMs()).toBeUndefined();
    });

    test("that is released can be claimed at once, and is lost for its holder", async () => {
      const lease = await create("resp_1");
      await context.store.queue.release(lease);

      await expect(context.store.commit(lease, write({}))).rejects.toMatchObject({ code: "lost_lease" });
      expect(await context.store.queue.renew([lease], 30_000)).toEqual([]);
      expect(await claim()).toMatchObject([{ responseId: "resp_1", fence: 2 }]);
    });

    test("that is released without fault does not count as an attempt", async () => {
      await create("resp_1", { status: "queued" });
      const attempt = async () => {
        const [claimed] = await claim();
        if (!claimed) throw new Error("There was nothing to claim.");
        return claimed;
      };
      const first = await attempt();
      await context.store.queue.release(first);
      const second = await attempt();
      await context.store.queue.release(second, { forgetsAttempt: true });
      const third = await attempt();
      expect([first.attempts, second.attempts, third.attempts]).toEqual([1, 2, 2]);
    });

    test("can be claimed for one response alone", async () => {
      await create("resp_a", { status: "queued" });
      await create("resp_b", { status: "queued" });
      await create("running");
      const only = (id: string) => context.store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10, id });

      expect(await only("resp_b")).toMatchObject([{ responseId: "resp_b", fence: 1, attempts: 1 }]);
      expect(await only("resp_b")).toEqual([]);
      expect(await only("running")).toEqual([]);
      expect(await only("nobody")).toEqual([]);
      expect(await claim()).toMatchObject([{ responseId: "resp_a" }]);
    });

    test("counts the claims since the run last made progress", async () => {
      await create("resp_1", { status: "queued" });
      const attempts: number[] = [];
      for (const hasProgressed of [false, false, true, false]) {
        const [lease] = await claim();
        if (lease === undefined) throw new Error("There was nothing to claim.");
        attempts.push(lease.attempts);
        await context.store.queue.trust(lease, { hasProgressed });
        await context.store.queue.release(lease);
      }
      const [last] = await claim();

      expect([...attempts, last?.attempts]).toEqual([1, 2, 3, 1, 2]);
    });

    test.each(["completed", "incomplete", "failed", "cancelled", "requires_action"] as const)(
      "is not given for a response that is %s",
      async (status) => {
        await createIn(status);
        context.advance(100_000);

        expect(await claim()).toEqual([]);
      },
    );
  });

  describe("a requested cancellation", () => {
    test("is kept, and reported by the next claim", async () => {
      await create("resp_1", { status: "queued" });

      expect(await context.store.requestCancel("ann", "resp_1")).toMatchObject({
        status: "queued",
        isCancelRequested: true,
      });
      expect(await claim()).toMatchObject([{ response: { isCancelRequested: true } }]);
    });

    test("changes nothing after the response ended, or if there is none", async () => {
      await createIn("completed");

      expect(await context.store.requestCancel("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
      expect(await context.store.get("ann", "resp_1")).toMatchObject({ isCancelRequested: false });
      expect(await context.store.requestCancel("ann", "resp_2")).toBeUndefined();
    });
  });
}
