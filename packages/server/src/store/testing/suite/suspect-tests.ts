// What every store must know of runs that were at work when a process died.

import { describe, expect, test } from "vitest";
import type { Job } from "../../run-queue.ts";
import { write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function suspectTests(context: SuiteContext): void {
  const { create, claim } = context;
  const queue = (id: string, createdAtMs = 1000) => create(id, { status: "queued", createdAtMs });
  const claimOf = (suspects: "none" | "only", limit = 10) =>
    context.store.queue.claim("worker-3", { leaseMs: 30_000, limit, suspects });
  /** The processes that hold leases are gone. */
  const crash = () => context.advance(40_000);
  const short = (claims: readonly Job[]) =>
    claims.map(({ responseId, attempts, suspicion }) => [responseId, attempts, suspicion]);

  describe("a run that was at work when a process died", () => {
    test("is a suspect, and is not blamed for a death beside others", async () => {
      await queue("resp_1");
      await queue("resp_2");
      await claim();
      crash();
      await queue("fresh");

      expect(short(await claimOf("none"))).toEqual([["fresh", 1, 0]]);
      expect(short(await claimOf("only", 1))).toEqual([["resp_1", 1, 1]]);
      expect(short(await claimOf("only", 1))).toEqual([["resp_2", 1, 1]]);
      expect(await claimOf("only")).toEqual([]);
    });

    test("is to blame if the process dies while it runs alone, and the least blamed come first", async () => {
      await queue("poisoned", 1);
      await queue("innocent", 2);
      await claim();
      crash();
      expect(short(await claimOf("only", 1))).toEqual([["poisoned", 1, 1]]);
      crash();
      expect(short(await claimOf("only", 1))).toEqual([["innocent", 1, 1]]);
      expect(short(await claimOf("only", 1))).toEqual([["poisoned", 2, 2]]);
      crash();
      expect(short(await claimOf("only"))).toEqual([
        ["innocent", 2, 2],
        ["poisoned", 3, 3],
      ]);
    });

    test("is not blamed once others may run beside it, but stays a suspect", async () => {
      await queue("resp_1");
      await claim();
      crash();
      for (const suspicion of [1, 2, 3]) {
        const [lease] = await claimOf("only");
        expect(lease).toMatchObject({ attempts: 1, suspicion });
        if (lease) await context.store.queue.trust(lease, { hasProgressed: false });
        crash();
      }
    });

    test("is no longer a suspect when it made progress", async () => {
      await queue("resp_1");
      await claim();
      crash();
      const [lease] = await claimOf("only");
      if (!lease) throw new Error("There was nothing to claim.");
      await context.store.queue.trust(lease, { hasProgressed: true });
      await context.store.queue.release(lease);

      expect(short(await claimOf("none"))).toEqual([["resp_1", 1, 0]]);
    });

    test("stays a suspect when a living process releases it", async () => {
      await queue("resp_1");
      await claim();
      crash();
      const [lease] = await claimOf("only");
      if (lease) await context.store.queue.release(lease, { forgetsAttempt: true });

      expect(await claimOf("none")).toEqual([]);
      expect(short(await claimOf("only"))).toEqual([["resp_1", 1, 1]]);
    });

    test("is no longer a suspect when it is released after it has run alone", async () => {
      await queue("resp_1");
      await claim();
      crash();
      const [lease] = await claimOf("only");
      if (!lease) throw new Error("There was nothing to claim.");
      await context.store.queue.trust(lease, { hasProgressed: false });
      await context.store.queue.release(lease);

      expect(short(await claimOf("none"))).toEqual([["resp_1", 2, 0]]);
    });

    test("need not run alone if it only has to be ended: foreground or cancelled", async () => {
      await create("foreground", { background: false });
      await create("cancelled");
      await context.store.requestCancel("ann", "cancelled");
      await create("suspect");
      await queue("fresh");
      crash();

      const toEnd = await context.store.queue.claim("worker-3", { leaseMs: 0, limit: 10, onlyToEnd: true });
      expect(toEnd.map(({ responseId }) => responseId)).toEqual(["cancelled", "foreground"]);
      expect((await claimOf("only")).map(({ responseId }) => responseId)).toEqual(["suspect"]);
      expect((await claimOf("none")).map(({ responseId }) => responseId)).toEqual([
        "cancelled",
        "foreground",
        "fresh",
      ]);
    });

    test("is not changed by a lost lease", async () => {
      await queue("resp_1");
      const [lost] = await claim();
      crash();
      await claimOf("only");
      if (lost) await context.store.queue.trust(lost, { hasProgressed: true });
      crash();

      expect(short(await claimOf("only"))).toEqual([["resp_1", 2, 2]]);
    });
  });

  test("steps alone do not make a run less suspect", async () => {
    await queue("resp_1");
    await claim();
    crash();
    const [lease] = await claimOf("only");
    if (lease) await context.store.commit(lease, write({ steps: [{ kind: "step" }] }));
    crash();

    expect(short(await claimOf("only"))).toEqual([["resp_1", 2, 2]]);
  });
}
