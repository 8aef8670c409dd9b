// What every store of sessions does.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { folderSessions } from "../sessions.ts";
import { memorySessions } from "./memory-sessions.ts";
import { loadSession } from "./session.ts";
import type { SessionEntry, SessionStart } from "./store.ts";

function inFolder() {
  const folder = mkdtempSync(join(tmpdir(), "rondo-sessions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folderSessions(join(folder, "deep", "down"));
}

const start = (id: string, more: Partial<SessionStart> = {}): SessionStart => ({
  type: "session",
  version: 1,
  id,
  createdAt: "2026-01-02T03:04:05.000Z",
  ...more,
});
const says = (content: string): SessionEntry => ({ type: "message", message: { role: "user", content } });

describe.each([
  ["memory", memorySessions],
  ["a folder", inFolder],
])("a store in %s", (_, open) => {
  test("gives the entries back in their order", async () => {
    const store = open();
    expect(await store.read("one")).toBeUndefined();
    await store.append("one", [start("one"), says("a")]);
    await store.append("one", [says("b\n\u2028 \ud83d\ude00"), { type: "info", info: { k: [1] } }]);
    expect(await store.read("one")).toEqual([
      start("one"),
      says("a"),
      says("b\n\u2028 \ud83d\ude00"),
      { type: "info", info: { k: [1] } },
    ]);
  });

  test("does not begin a session twice, nor continue one that does not exist", async () => {
    const store = open();
    await store.append("one", [start("one"), says("a")]);
    await expect(store.append("one", [start("one"), says("b")])).rejects.toThrow(
      "id: expected the id of a new session",
    );
    await expect(store.append("two", [says("b")])).rejects.toMatchObject({
      code: "unknown_session",
      id: "two",
    });
    expect(await store.read("one")).toHaveLength(2);
    expect(await store.read("two")).toBeUndefined();
  });

  test("lists the sessions with their first prompts, the last changed first", async () => {
    const store = open();
    expect(await store.list()).toEqual([]);
    await store.append("old", [start("old"), { type: "info", info: { cwd: "/x" } }, says(" a  \n b ")]);
    await new Promise((done) => setTimeout(done, 20)); // the clock of a file system is coarse
    await store.append("new", [start("new", { forkedFrom: "old" }), says("x".repeat(500))]);
    expect(await store.list()).toMatchObject([
      { id: "new", forkedFrom: "old", title: "x".repeat(80) },
      { id: "old", title: "a b", createdAt: "2026-01-02T03:04:05.000Z", info: { cwd: "/x" } },
    ]);
    expect(await store.list({ limit: 1 })).toHaveLength(1);
  });

  test("deletes a session", async () => {
    const store = open();
    await store.append("one", [start("one"), says("a")]);
    expect(await store.delete("one")).toBe(true);
    expect(await store.delete("one")).toBe(false);
    expect(await store.read("one")).toBeUndefined();
    await expect(loadSession(store, "one")).rejects.toMatchObject({ code: "unknown_session" });
  });

  test("lets one in at a time, and deletes nothing that is in use", async () => {
    const store = open();
    await store.append("one", [start("one"), says("a")]);
    const lock = await store.lock("one");
    await expect(store.lock("one")).rejects.toMatchObject({ code: "session_locked", id: "one" });
    await expect(store.delete("one")).rejects.toMatchObject({ code: "session_locked" });
    await using _ = await store.lock("two");
    await lock[Symbol.asyncDispose]();
    const again = await store.lock("one");
    await again[Symbol.asyncDispose]();
    expect(await store.delete("one")).toBe(true);
  });

  test.each(["", "..", "../one", "a/b", "a\\b", ".hidden", "-x", "x".repeat(65), "a\0b", "a.jsonl"])(
    "refuses the id %j",
    async (id) => {
      const store = open();
      for (const use of [
        () => store.read(id),
        () => store.append(id, [start(id)]),
        () => store.delete(id),
        () => store.lock(id),
      ])
        await expect((async () => use())()).rejects.toMatchObject({ field: "id" });
    },
  );
});
