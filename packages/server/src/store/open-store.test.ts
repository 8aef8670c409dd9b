import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError } from "rondo";
import { expect, test } from "vitest";
import { openStore } from "./open-store.ts";
import { tempFolder } from "./testkit/temp-folder.ts";

test("memory is a store in memory", async () => {
  const store = openStore("memory");

  await store.check();
  await expect(store.close()).resolves.toBeUndefined();
});

test("sqlite: is followed by a path", async () => {
  using folder = tempFolder();
  const path = join(folder.path, "my store: 1.db");
  const store = openStore(`sqlite:${path}`);

  expect(existsSync(path)).toBe(true);
  await store.close();
});

test.each(["", "Memory", "sqlite", "sqlite:", "postgres://localhost/rondo", "./rondo.db"])(
  "%j is refused, with what is allowed",
  (url) => {
    expect(() => openStore(url)).toThrow(InvalidArgumentError);
    expect(() => openStore(url)).toThrow('"memory" or "sqlite:PATH"');
  },
);
