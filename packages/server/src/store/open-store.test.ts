import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError } from "rondo";
import { expect, test } from "vitest";
import { openStore } from "./open-store.ts";
import { memoryStore } from "./testkit/memory.ts";
import { tempFolder } from "./testkit/temp-folder.ts";

test.each([
  ["memory", false],
  ["none", true],
])("%s has no file", async (name, keepsNothing) => {
  const store = await openStore(name);

  expect(store.keepsNothing).toBe(keepsNothing);
  await store.check();
  await expect(store.close()).resolves.toBeUndefined();
});

test("sqlite: is followed by a path", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "my store: 1.db");
  const store = await openStore(`sqlite:${path}`);

  expect(existsSync(path)).toBe(true);
  await store.close();
});

test("a store that is open already is used as it is", async () => {
  const store = memoryStore();
  expect(await openStore(store)).toBe(store);
});

test.each(["", "Memory", "None", "sqlite", "sqlite:", "postgres:", "./rondo.db"])(
  "%j is refused, with what is allowed",
  async (url) => {
    await expect(openStore(url)).rejects.toThrow(InvalidArgumentError);
    await expect(openStore(url)).rejects.toThrow('"memory", "none", "sqlite:PATH" or "postgres://…"');
  },
);
