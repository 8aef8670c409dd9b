// How every store must list runs.

import { beforeEach, describe, expect, test } from "vitest";
import type { ListRunsOptions } from "../../store.ts";
import { write } from "../build.ts";
import type { SuiteContext } from "./context.ts";

export function runListTests(context: SuiteContext): void {
  const { create } = context;

  const listed = async (options: Partial<ListRunsOptions> = {}, owner = "ann") =>
    context.store.listRuns(owner, { limit: 100, order: "asc", ...options });
  const idsOf = async (options: Partial<ListRunsOptions> = {}) =>
    (await listed(options)).data.map(({ id }) => id).join(" ");

  describe("a list of runs", () => {
    // Two of each age, so that the order needs the id as well.
    beforeEach(async () => {
      const conversation = { id: "conv_1", mustBeFree: false };
      await context.store.createConversation({
        id: "conv_1",
        owner: "ann",
        createdAtMs: 1,
        metadata: {},
        items: [],
      });
      const queued = { status: "queued" } as const;
      await create("r0", { title: "Größe: 100% [a*b?]\\n", source: "console", createdAtMs: 1000 });
      await create("r1", { previousResponseId: "r0", model: "large", createdAtMs: 1000 });
      await create("r2", { previousResponseId: "r1", source: "console", createdAtMs: 1001 });
      await create("r3", { ...queued, conversation, title: "Zebra", createdAtMs: 1001 });
      await create("r4", { ...queued, conversation, title: "zebra und GNU", createdAtMs: 1002 });
      await create("r5", { previousResponseId: "gone", background: false, createdAtMs: 1002 });
      await create("resp_abcd1", { title: "resp_abcd2", createdAtMs: 1003 });
      await create("other", { owner: "bob", title: "Zebra", previousResponseId: "r0" });
    });

    test("is in short, with its thread", async () => {
      const lease = await create("r9", { createdAtMs: 1004, title: "T", source: "é\u0000\\" });
      const error = { type: "server_error", code: "c", message: "m", param: null };
      await context.store.commit(lease, write({ update: { status: "failed", completedAtMs: 2000, error } }));
      const { data, hasMore, next } = await listed();
      expect({ hasMore, next }).toEqual({ hasMore: false, next: undefined });
      expect(data.at(-1)).toEqual({
        id: "r9",
        status: "failed",
        background: true,
        model: "small",
        createdAtMs: 1004,
        completedAtMs: 2000,
        previousResponseId: null,
        error,
        usage: null,
        title: "T",
        source: "é\u0000\\",
        threadId: "r9",
      });
      expect(data.map(({ threadId, title }) => [threadId, title])).toEqual([
        ["r0", "Größe: 100% [a*b?]\\n"],
        ["r0", null],
        ["r0", null],
        ["conv_1", "Zebra"],
        ["conv_1", "zebra und GNU"],
        ["gone", null],
        ["resp_abcd1", "resp_abcd2"],
        ["r9", "T"],
      ]);
      expect((await listed({ source: "é\u0000\\" })).data).toHaveLength(1);
    });

    test("comes in pages, either way, with and without a filter", async () => {
      for (const filter of [{}, { onlyRoots: false, background: true, model: "small" }]) {
        const all = (await idsOf(filter)).split(" ");
        for (const order of ["asc", "desc"] as const) {
          const wanted = order === "asc" ? all : all.toReversed();
          const found: string[] = [];
          for (let after: string | undefined; ; ) {
            const page = await listed({ ...filter, order, limit: 2, ...(after !== undefined && { after }) });
            found.push(...page.data.map(({ id }) => id));
            expect(page.hasMore).toBe(found.length < wanted.length);
            expect(page.next).toBe(page.hasMore ? found.at(-1) : undefined);
            if (page.next === undefined) break;
            after = page.next;
          }
          expect(found).toEqual(wanted);
          const last = wanted.at(-1) ?? "";
          const page = await listed({ ...filter, order, limit: 2, before: last });
          expect(page.data.map(({ id }) => id)).toEqual(wanted.slice(-3, -1));
          expect(page.next).toBe(page.data[0]?.id);
        }
      }
    });

    test("can be filtered", async () => {
      expect(await idsOf({ source: "console" })).toBe("r0 r2");
      expect(await idsOf({ thread: "r0" })).toBe("r0 r1 r2");
      expect(await idsOf({ thread: "r0", model: "large" })).toBe("r1");
      expect(await idsOf({ thread: "r1" })).toBe("");
      expect(await idsOf({ thread: "conv_1", order: "desc", limit: 1 })).toBe("r4");
      expect(await idsOf({ thread: "nul\u0000" })).toBe("");
      expect(await idsOf({ onlyRoots: true })).toBe("r0 r3 r5 resp_abcd1");
      expect(await idsOf({ onlyRoots: true, source: "console", order: "desc" })).toBe("r0");
      expect(await idsOf({ status: "queued", model: "small", background: true })).toBe("r3 r4");
      expect(await idsOf({ createdAfterMs: 1000, createdBeforeMs: 1002 })).toBe("r2 r3");
      expect(await idsOf({ status: "completed" })).toBe("");
    });

    test("has each thread once, also after its first response was removed", async () => {
      const source = "console";
      await create("r6", { previousResponseId: "r0", source, createdAtMs: 999 }); // a clock that was set back
      const roots = () => idsOf({ onlyRoots: true });
      expect(await roots()).toBe("r0 r3 r5 resp_abcd1");
      for (const id of ["r0", "r3", "r5"]) await context.store.remove("ann", id);
      expect(await roots()).toBe("r6 r4 resp_abcd1");
      await context.store.remove("ann", "r6");
      await create("r7", { previousResponseId: "r2", source, createdAtMs: 1009 });
      expect(await roots()).toBe("r1 r4 resp_abcd1");
      await context.store.remove("ann", "r1");
      expect(await roots()).toBe("r2 r4 resp_abcd1");
      expect(await idsOf({ onlyRoots: true, source })).toBe("r2");
      expect(await idsOf({ thread: "r0" })).toBe("r2 r7");
      // A response of the name of a thread, but of another one, did not begin it.
      await create("gone2", { previousResponseId: "gone" });
      await create("gone", { previousResponseId: "elsewhere" });
      expect(await roots()).toBe("gone gone2 r2 r4 resp_abcd1");
      // One that follows what was said in its own thread did.
      await create("early", { previousResponseId: "late" });
      await create("late", { previousResponseId: "early" });
      expect(await roots()).toBe("gone gone2 late r2 r4 resp_abcd1");
      // Those of another owner make no difference.
      expect((await listed({ onlyRoots: true }, "bob")).data.map(({ id }) => id)).toEqual(["other"]);
    });

    test.each([
      ["zebra", "r3 r4"],
      ["ZEBRA U", "r4"],
      ["größe", "r0"],
      ["GRÖ", "r0"],
      ["gro", ""],
      ["100%", "r0"],
      ["[a*b?]", "r0"],
      ["[A*B?]\\N", "r0"],
      ["*", "r0"],
      ["z*a", ""],
      ["z.bra", ""],
      ["\\", "r0"],
      ["^", ""],
      ["nul\u0000", ""],
      ["resp_abcd", "resp_abcd1"],
      ["resp_abcd1", "resp_abcd1"],
      ["resp_abc_", ""],
      ["resp", "resp_abcd1"],
    ])("can be searched: %j", async (search, ids) => {
      expect(await idsOf({ search })).toBe(ids);
      expect(await idsOf({ search, source: "nowhere" })).toBe("");
    });

    test.each(["after", "before"])("refuses an unknown id as %s", async (parameter) => {
      for (const id of ["nothing", "other"])
        await expect(listed({ [parameter]: id })).rejects.toMatchObject({ code: "unknown_cursor" });
    });

    test("has only what is the owner's", async () => {
      for (const filter of [{}, { thread: "r0" }, { search: "zebra" }])
        expect((await listed(filter, "bob")).data).toMatchObject([{ id: "other", threadId: "r0" }]);
      expect((await listed({ search: "resp_abcd1" }, "bob")).data).toEqual([]);
    });
  });

  describe("a trace", () => {
    const piece = (first: number, last: number, text = "é\\u0000") => ({
      first,
      last,
      lines: Array.from({ length: last - first + 1 }, (_, i) => `{"n":${first + i},"t":"${text}"}`).join(
        "\n",
      ),
    });

    test("grows with commits, is read from a number on, and belongs to its owner", async () => {
      const lease = await create("resp_1");
      expect((await context.store.resume(lease)).trace).toEqual({ next: 0, bytes: 0 });
      await context.store.commit(lease, write({ trace: piece(0, 2) }));
      await context.store.commit(lease, write({ trace: piece(3, 3), update: { status: "completed" } }));
      const all = [piece(0, 2), piece(3, 3)];
      expect(await context.store.trace("ann", "resp_1", -1)).toEqual(all);
      expect(await context.store.trace("ann", "resp_1", 1)).toEqual(all);
      expect(await context.store.trace("ann", "resp_1", 2)).toEqual([piece(3, 3)]);
      expect(await context.store.trace("ann", "resp_1", 3)).toEqual([]);
      expect(await context.store.trace("bob", "resp_1", -1)).toEqual([]);
      expect((await context.store.resume(lease)).trace).toEqual({
        next: 4,
        bytes: Buffer.byteLength(piece(0, 2).lines + piece(3, 3).lines),
      });
    });

    test("is not written with a commit that is refused", async () => {
      const lease = await create("resp_1");
      await context.store.commit(lease, write({ update: { status: "completed" } }));
      await expect(context.store.commit(lease, write({ trace: piece(0, 0) }))).rejects.toMatchObject({
        code: "illegal_transition",
      });
      await expect(
        context.store.commit({ ...lease, fence: 7 }, write({ trace: piece(0, 0) })),
      ).rejects.toMatchObject({ code: "lost_lease" });
      expect(await context.store.trace("ann", "resp_1", -1)).toEqual([]);
    });

    test("goes with its response, when that is removed or too old", async () => {
      for (const id of ["resp_1", "resp_2"]) {
        const lease = await create(id);
        const update = { status: "completed", completedAtMs: 10 } as const;
        await context.store.commit(lease, write({ trace: piece(0, 0), update }));
      }
      await context.store.remove("ann", "resp_1");
      await context.store.expire(11);
      for (const id of ["resp_1", "resp_2"]) {
        await create(id);
        expect(await context.store.trace("ann", id, -1)).toEqual([]);
      }
    });
  });
}
