import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { openStore } from "../../store/open-store.ts";
import { memoryStore } from "../../store/testkit/memory.ts";
import { checkNode, checkStore } from "./install.ts";

test.each([
  ["24.0.0", "ok"],
  ["26.1.0", "ok"],
  ["22.19.0", "failed"],
])("Node %s: %s", (version, status) => {
  expect(checkNode(version)).toMatchObject({ status, message: `Node ${version} (needed: 24 or newer)` });
});

describe("the store", () => {
  const look = (store: string, cwd: string) => checkStore(resolveConfig({ store }), cwd);

  test("is fine in memory, and while another server has it open", async () => {
    using folder = folderWith();
    const store = await openStore(`sqlite:${join(folder.path, "rondo.db")}`);
    expect(await look("memory", folder.path)).toMatchObject({ status: "ok", code: "memory" });
    expect(await look("sqlite:./rondo.db", folder.path)).toMatchObject({
      status: "ok",
      code: "in_use",
      message: "store sqlite:./rondo.db: in use by a running server, and left alone",
    });
    await store.close();
    expect(await look("sqlite:./rondo.db", folder.path)).toMatchObject({ status: "ok", code: "ready" });
  });

  test("may be none, or an object of the config", async () => {
    expect(await look("none", "/")).toMatchObject({ status: "ok", code: "none" });
    expect(await checkStore(resolveConfig({ store: memoryStore() }), "/")).toMatchObject({ code: "custom" });
  });

  test("that is not a database is reported with what to do", async () => {
    using folder = folderWith({ "rondo.db": "a letter to my aunt ".repeat(100) });
    expect(await look("sqlite:./rondo.db", folder.path)).toMatchObject({
      status: "failed",
      code: "unusable",
      message: expect.stringContaining("not a SQLite database"),
      advice: expect.stringContaining("RONDO_STORE"),
    });
  });
});
