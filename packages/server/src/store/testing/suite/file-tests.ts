// What every store that keeps files must hold. A store without them skips these.

import { describe, expect, type TestContext, test } from "vitest";
import { type FileDetails, type FileStore, fileChunkBytes, type NewFile } from "../../file-store.ts";
import type { SuiteContext } from "./context.ts";

export function fileTests(context: SuiteContext): void {
  const filesOf = ({ skip }: TestContext): FileStore =>
    context.store.files ?? skip("This store keeps no files.");
  const newFile = (id: string, owner = "ann"): NewFile => ({ id, owner, createdAtMs: context.now() });
  const details =
    (given: Partial<FileDetails> = {}) =>
    (): FileDetails => ({ expiresAtMs: null, filename: "data.csv", purpose: "user_data", ...given });
  async function* pieces(...texts: (string | Uint8Array)[]) {
    for (const text of texts) yield Buffer.from(text);
  }
  const contentOf = async (files: FileStore, id: string, owner = "ann") => {
    const content = await files.content(owner, id);
    return content && Buffer.concat(await Array.fromAsync(content));
  };

  describe("a file", () => {
    test("is kept as it came, with any name, and belongs to one owner", async (it) => {
      const files = filesOf(it);
      const file = newFile("file_1");
      const filename = "../../etc/päß\u001b[31m\u{1f4c8}";
      const content = pieces("a,b\n", new Uint8Array(), Buffer.from([0, 255, 10]));
      const stored = await files.create(file, content, details({ filename }));
      expect(stored).toEqual({ ...file, filename, purpose: "user_data", expiresAtMs: null, bytes: 7 });
      expect(await files.get("ann", "file_1")).toEqual(stored);
      expect(await contentOf(files, "file_1")).toEqual(Buffer.from("a,b\n\u0000\u00ff\n", "latin1"));
      expect(await files.usage("ann")).toEqual({ files: 1, bytes: 7 });

      expect(await files.get("bob", "file_1")).toBeUndefined();
      expect(await contentOf(files, "file_1", "bob")).toBeUndefined();
      expect(await files.remove("bob", "file_1")).toBe(false);
      expect(await files.list("bob", { limit: 10, order: "asc" })).toEqual({ data: [], hasMore: false });
      expect(await files.usage("bob")).toEqual({ files: 0, bytes: 0 });
      await files.create(newFile("file_1", "bob"), pieces("bob's"), details());
      await expect(files.create(file, pieces("again"), details())).rejects.toMatchObject({
        code: "duplicate_id",
      });
      expect((await contentOf(files, "file_1"))?.length).toBe(7);

      expect(await files.remove("ann", "file_1")).toBe(true);
      expect(await files.remove("ann", "file_1")).toBe(false);
      expect(await files.get("ann", "file_1")).toBeUndefined();
      expect(await contentOf(files, "file_1", "bob")).toEqual(Buffer.from("bob's"));
    });

    test("of many chunks and of none comes back whole, and never short", async (it) => {
      const files = filesOf(it);
      const large = Buffer.alloc(fileChunkBytes * 2 + 77, "0123456789");
      const halves = pieces(large.subarray(0, 300_000), large.subarray(300_000));
      await files.create(newFile("file_large"), halves, details());
      await files.create(newFile("file_empty"), pieces(), details());
      expect((await contentOf(files, "file_large"))?.equals(large)).toBe(true);
      expect(await contentOf(files, "file_empty")).toEqual(Buffer.alloc(0));

      const reader = (await files.content("ann", "file_large"))?.[Symbol.asyncIterator]();
      expect((await reader?.next())?.value?.length).toBeLessThanOrEqual(fileChunkBytes);
      await files.remove("ann", "file_large");
      await expect(reader?.next()).rejects.toMatchObject({ code: "file_removed" });
    });

    test("whose upload breaks was never there, nor is one whose upload goes on", async (it) => {
      const files = filesOf(it);
      const broken = async function* () {
        yield Buffer.alloc(fileChunkBytes + 1);
        expect(await files.get("ann", "file_1")).toBeUndefined();
        expect((await files.list("ann", { limit: 10, order: "asc" })).data).toEqual([]);
        expect(await contentOf(files, "file_1")).toBeUndefined();
        expect(await files.usage("ann")).toEqual({ files: 0, bytes: 0 });
        throw new Error("The client is gone.");
      };
      const create = files.create(newFile("file_1"), broken(), details());
      await expect(create).rejects.toThrow("The client is gone.");
      const fail = () => {
        throw new Error("The form has no purpose.");
      };
      await expect(files.create(newFile("file_1"), pieces("12"), fail)).rejects.toThrow("no purpose");
      expect(await files.get("ann", "file_1")).toBeUndefined();
      await files.create(newFile("file_1"), pieces("whole"), details());
      expect(await contentOf(files, "file_1")).toEqual(Buffer.from("whole"));
    });

    test("ceases to exist when it expires, and is then removed", async (it) => {
      const files = filesOf(it);
      const expiresAtMs = context.now() + 1000;
      await files.create(newFile("file_1"), pieces("12345"), details({ expiresAtMs }));
      await files.create(newFile("file_2"), pieces("stays"), details());
      context.advance(999);
      expect(await files.expire(0)).toBe(0);
      expect(await files.get("ann", "file_1")).toBeDefined();
      context.advance(1);
      expect(await files.get("ann", "file_1")).toBeUndefined();
      expect(await contentOf(files, "file_1")).toBeUndefined();
      expect(await files.usage("ann")).toEqual({ files: 1, bytes: 5 });
      expect(await files.expire(0)).toBe(1);
      expect(await files.expire(0)).toBe(0);
      expect(await contentOf(files, "file_2")).toEqual(Buffer.from("stays"));
    });

    test("is listed by age, in pages and by purpose", async (it) => {
      const files = filesOf(it);
      for (const [id, purpose] of Object.entries({ file_1: "vision", file_2: "batch", file_3: "vision" })) {
        await files.create(newFile(id), pieces("x"), details({ purpose }));
        context.advance(1);
      }
      const ids = async (options: Parameters<FileStore["list"]>[1]) => {
        const { data, hasMore } = await files.list("ann", options);
        return [...data.map(({ id }) => id), hasMore];
      };
      expect(await ids({ limit: 2, order: "desc" })).toEqual(["file_3", "file_2", true]);
      expect(await ids({ limit: 2, order: "desc", after: "file_2" })).toEqual(["file_1", false]);
      expect(await ids({ limit: 9, order: "asc", purpose: "vision" })).toEqual(["file_1", "file_3", false]);
      await expect(ids({ limit: 9, order: "asc", after: "file_9" })).rejects.toMatchObject({
        code: "unknown_cursor",
      });
    });
  });
}
