// How every store must give its lists in pages.

import { beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store.ts";
import { inputItem, message, output, write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function listTests(context: SuiteContext): void {
  const { create } = context;

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
      const { data, hasMore } = await context.store.list("ann", { limit: 100, order: "asc", ...options });
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

    test("returns the page that ends before a cursor", async () => {
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

    test("can be filtered, also with a cursor that does not match", async () => {
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
      await context.store.commit(lease, write({ output: [output(0, message("msg_1"))] }));
      await create("resp_2", { input: [inputItem("e")] });
    });

    const idsOf = async (options: Partial<Parameters<Store["input"]>[2]>) => {
      const { data, hasMore } = await context.store.input("ann", "resp_1", {
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
}
