// What every store must know of the keys that clients give to requests.

import { describe, expect, test } from "vitest";
import { write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function keyTests(context: SuiteContext): void {
  const { create } = context;
  const keyed = (id: string, key: string, { owner = "ann", ms = 1000 } = {}) =>
    create(id, { owner, idempotency: { key, fingerprint: `of ${id}`, keepMs: ms } });
  const find = (key: string, owner = "ann") => context.store.findByKey(owner, key);

  describe("a key", () => {
    test("belongs to the first response, and to one owner", async () => {
      const [first, second] = await Promise.allSettled([keyed("resp_1", "k"), keyed("resp_2", "k")]);
      expect(first.status).toBe("fulfilled");
      expect(second).toMatchObject({ status: "rejected", reason: { code: "key_taken" } });
      expect(await find("k")).toEqual({ responseId: "resp_1", fingerprint: "of resp_1" });
      expect(await context.store.get("ann", "resp_2")).toBeUndefined();

      expect(await find("k", "bob")).toBeUndefined();
      await keyed("resp_3", "k", { owner: "bob" });
      expect(await find("k", "bob")).toMatchObject({ responseId: "resp_3" });
      expect(await find("k")).toMatchObject({ responseId: "resp_1" });
      expect(await find("other")).toBeUndefined();
    });

    test("is kept until it expires, and can then be used again", async () => {
      await keyed("resp_1", "k");
      context.advance(999);
      expect(await find("k")).toBeDefined();
      await expect(keyed("resp_2", "k")).rejects.toMatchObject({ code: "key_taken" });
      context.advance(1);
      expect(await find("k")).toBeUndefined();
      await keyed("resp_2", "k");
      expect(await find("k")).toMatchObject({ responseId: "resp_2" });
      await context.store.remove("ann", "resp_1");
      expect(await find("k")).toMatchObject({ responseId: "resp_2" });
    });

    test("is removed with its response, also by expiry", async () => {
      await keyed("resp_1", "k");
      await context.store.remove("ann", "resp_1");
      expect(await find("k")).toBeUndefined();

      const lease = await keyed("resp_2", "k");
      await context.store.commit(lease, write({ update: { status: "completed", completedAtMs: 5 } }));
      expect(await find("k")).toMatchObject({ responseId: "resp_2" });
      await context.store.expire(6);
      expect(await find("k")).toBeUndefined();
    });
  });
}
