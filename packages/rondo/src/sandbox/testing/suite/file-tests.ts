// Files: written, read, listed, removed, and never outside the container.

import assert from "node:assert/strict";
import { InvalidPathError, MissingFileError, SandboxLimitError } from "../../sandbox-errors.ts";
import { type SuiteContext, shell, textOf } from "./context.ts";

const badPaths = [
  "",
  ".",
  "/",
  "..",
  "../file",
  "a/../../file",
  "a/..",
  "/etc/passwd",
  "/mnt/data",
  "/mnt/database",
  "/mnt/data/../../etc/passwd",
  "a\0b",
  "a\nb",
  "a\u001b[31m",
  "x".repeat(256),
  `${"a/".repeat(60)}b`,
  "x".repeat(2000),
  "\ud800",
];

export function fileTests({ test, withContainer }: SuiteContext): void {
  test("files go in and out, whatever their bytes and names", async () => {
    await withContainer({}, async (container) => {
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256));
      const names = [
        "plain.bin",
        "sub/deep/é ü 漢字.bin",
        "-rf",
        "a'b\"c $HOME `x` ;|&",
        "/mnt/data/absolute",
      ];
      for (const name of names) {
        const file = await container.write(name, bytes);
        assert.equal(file.bytes, bytes.length);
        const chunks: Uint8Array[] = [];
        for await (const chunk of container.read(name)) chunks.push(chunk);
        assert.equal(Buffer.concat(chunks).equals(bytes), true, name);
      }
      const { stdout } = await shell(container, "wc -c < plain.bin; echo x > made");
      assert.equal(stdout.trim(), "200000");
      const listed = (await container.list()).map(({ path }) => path);
      assert.deepEqual(listed, [...names.slice(0, 4), "absolute", "made"].toSorted());
      assert.equal(await container.remove("sub"), true);
      assert.equal(await container.remove("sub/deep"), false);
      await assert.rejects(textOf(container, "sub/deep"), MissingFileError);
    });
  });

  test("a file is replaced as a whole, and one that breaks off leaves the old one", async () => {
    await withContainer({}, async (container) => {
      await container.write("file", Buffer.from("old"));
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield Buffer.from("half");
        throw new Error("broke off");
      }
      await assert.rejects(container.write("file", broken()), /broke off/);
      assert.equal(await textOf(container, "file"), "old");
      assert.deepEqual(
        (await container.list()).map(({ path }) => path),
        ["file"],
      );
      await container.write("file", Buffer.from("new"));
      assert.equal(await textOf(container, "file"), "new");
    });
  });

  test("paths that leave the container are refused", async () => {
    await withContainer({}, async (container) => {
      for (const path of badPaths) {
        await assert.rejects(textOf(container, path), InvalidPathError, JSON.stringify(path));
        await assert.rejects(container.write(path, Buffer.from("x")), InvalidPathError, JSON.stringify(path));
        await assert.rejects(container.remove(path), InvalidPathError, JSON.stringify(path));
      }
      assert.deepEqual(await container.list(), []);
    });
  });

  test("links and other things that are not files lead nowhere", async () => {
    await withContainer({}, async (container) => {
      await shell(
        container,
        "ln -s /etc/passwd link; ln -s / root; ln -s . self; mkfifo pipe; mkdir folder; echo x > file; ln -s file alias",
      );
      for (const path of ["link", "root/etc/passwd", "self/file", "folder", "file/x"])
        await assert.rejects(textOf(container, path), InvalidPathError, path);
      // A tier with a kernel of its own may keep pipes to itself.
      const isRefusal = (error: unknown) =>
        error instanceof InvalidPathError || error instanceof MissingFileError;
      await assert.rejects(textOf(container, "pipe"), isRefusal);
      await assert.rejects(container.write("root/tmp/x", Buffer.from("x")), InvalidPathError);
      await assert.rejects(container.write("folder", Buffer.from("x")), InvalidPathError);
      // A link is replaced, not followed.
      await container.write("link", Buffer.from("mine"));
      assert.equal(await textOf(container, "link"), "mine");
      assert.deepEqual(
        (await container.list()).map(({ path }) => path),
        ["file", "link"],
      );
      assert.equal(await container.remove("root"), true);
      assert.equal((await shell(container, "[ -d /usr/bin ] && echo there")).stdout !== "", true);
    });
  });

  test("what does not fit is refused, and changes nothing", async () => {
    await withContainer({ limits: { diskBytes: 1_000_000, files: 5 } }, async (container) => {
      const tooLarge = container.write("large", Buffer.alloc(1_100_000));
      await assert.rejects(tooLarge, (error) => error instanceof SandboxLimitError && error.limit === "disk");
      assert.deepEqual(await container.list(), []);
      for (let index = 0; index < 5; index++) await container.write(`${index}`, Buffer.from("x"));
      await assert.rejects(container.write("6", Buffer.from("x")), SandboxLimitError);
      assert.equal((await container.list()).length, 5);
    });
  });
}
