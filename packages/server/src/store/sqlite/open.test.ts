import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { InvalidArgumentError } from "rondo";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withCredentials } from "../../protocol/credentials.ts";
import type { ToolDefinition } from "../../protocol/tools.ts";
import { crashNotePath, writeCrashNote } from "../crash-note.ts";
import { inputItem, newResponse, write } from "../testing/build.ts";
import { type TempFolder, tempFolder } from "../testkit/temp-folder.ts";
import { sqliteStore } from "./sqlite-store.ts";

let folder: TempFolder;
let path: string;
beforeEach(() => {
  folder = tempFolder();
  path = join(folder.path, "rondo.db");
});
afterEach(() => folder[Symbol.dispose]());

const undoEventRows = "ALTER TABLE events DROP COLUMN count; ALTER TABLE items DROP COLUMN count;";
const undoTraces = `${undoEventRows} DROP TABLE traces; DROP INDEX responses_by_source; DROP INDEX responses_by_thread;
  ${["title", "source", "thread_id"].map((name) => `ALTER TABLE responses DROP COLUMN ${name}`).join(";")};`;
/** Takes away what was added after the version 3. */
const undoLatest = `${undoTraces} DROP TABLE file_chunks; DROP TABLE files; DROP TABLE idempotency_keys; ALTER TABLE responses DROP COLUMN suspicion; ALTER TABLE responses DROP COLUMN is_apart;`;

/** The error of a start that must fail. */
function refusal(file = path): unknown {
  try {
    void sqliteStore({ path: file }).close();
  } catch (error) {
    return error;
  }
  throw new Error("The store was opened.");
}

async function createStore(): Promise<void> {
  const store = sqliteStore({ path });
  const input = Array.from({ length: 100 }, (_, i) => inputItem(`item_${i}`));
  await store.create(newResponse("resp_1", { input }), "worker-1", 30_000);
  await store.close();
}

test("the file and its folders are made, for this user only", async () => {
  const deep = join(folder.path, "a", "b", "rondo.db");
  await sqliteStore({ path: deep }).close();

  expect(statSync(deep).mode & 0o777).toBe(0o600);
});

test("what was written is there after the store is opened again, and its leases have ended", async () => {
  await createStore();
  const store = sqliteStore({ path });

  expect(await store.get("ann", "resp_1")).toMatchObject({ id: "resp_1" });
  expect(await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10 })).toMatchObject([
    { responseId: "resp_1", fence: 2, attempts: 1 },
  ]);
  await store.close();
});

test("a second server is refused, also by another name of the file, until the first has closed", async () => {
  const store = sqliteStore({ path });
  const link = join(folder.path, "link.db");
  symlinkSync(path, link);

  for (const name of [path, link]) {
    expect(refusal(name)).toMatchObject({
      code: "in_use",
      message: expect.stringContaining("is open in another server. Stop that one first"),
    });
  }
  await store.check();
  await store.close();
  await sqliteStore({ path: link }).close();
});

test("others can read the database while it is in use", async () => {
  const store = sqliteStore({ path });
  await store.create(newResponse("resp_1"), "worker-1", 30_000);
  const reader = new DatabaseSync(path, { readOnly: true });

  expect(reader.prepare("SELECT id FROM responses").all()).toEqual([{ id: "resp_1" }]);
  reader.close();
  await store.close();
});

test("a database from before conversations is migrated with all its content", async () => {
  await createStore();
  const old = new DatabaseSync(path);
  old.exec(`${undoLatest} DROP INDEX responses_in_conversation; DROP TABLE conversation_items; DROP TABLE conversations;
    ALTER TABLE responses DROP COLUMN conversation_id; ALTER TABLE responses DROP COLUMN is_closed;
    DROP TABLE credentials; PRAGMA user_version = 1`);
  old.close();
  const store = sqliteStore({ path });

  expect((await store.chain("ann", "resp_1")).links[0]?.input).toHaveLength(100);
  await store.createConversation({ id: "conv_1", owner: "ann", createdAtMs: 1, metadata: {}, items: [] });
  const [lease] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10 });
  expect(lease?.responseId).toBe("resp_1");
  await store.close();
});

test("a database from before open calls were marked on all responses is migrated", async () => {
  const before = sqliteStore({ path });
  await before.create(newResponse("resp_1", { request: { tool_choice: "none" } }), "worker-1", 30_000);
  await before.create(newResponse("resp_2", { request: { tool_choice: "auto" } }), "worker-1", 30_000);
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(`${undoLatest} DROP TABLE credentials; PRAGMA user_version = 2`);
  old.close();
  const store = sqliteStore({ path });

  expect((await store.chain("ann", "resp_1")).links).toMatchObject([{ isClosed: true }]);
  expect((await store.chain("ann", "resp_2")).links).toMatchObject([{ isClosed: false }]);
  await store.close();
});

test("a migration removes credentials of MCP servers, except for waiting runs", async () => {
  const before = sqliteStore({ path });
  const server = {
    type: "mcp",
    server_label: "notes",
    authorization: "s3cret",
    headers: { "x-key": "s3cret" },
  };
  const request = { tools: [{ type: "function", name: "f", headers: "none" }, server], note: '"mcp"' };
  const more = (id: string) => ({ type: "additional_tools", id, tools: [server] });
  const leases = [];
  for (const id of ["resp_1", "resp_2"]) {
    const made = newResponse(id, { request, input: [more(`in_${id}`)] });
    leases.push(await before.create(made, "worker-1", 30_000));
  }
  const [first] = leases;
  if (first) await before.commit(first, write({ update: { status: "completed", completedAtMs: 1 } }));
  const items = [more("in_conv")];
  await before.createConversation({ id: "conv_1", owner: "ann", createdAtMs: 1, metadata: {}, items });
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(`${undoLatest} DROP TABLE credentials; PRAGMA user_version = 3`);
  old.close();
  const store = sqliteStore({ path });

  const { authorization: _token, headers: _headers, ...rest } = server;
  for (const id of ["resp_1", "resp_2"]) {
    expect((await store.get("ann", id))?.request).toEqual({ ...request, tools: [request.tools[0], rest] });
    expect((await store.input("ann", id, { limit: 10, order: "asc" })).data).toMatchObject([
      { type: "additional_tools", tools: [rest] },
    ]);
  }
  expect(JSON.stringify(await store.readConversation("ann", "conv_1"))).not.toContain("s3cret");
  const [claim] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10 });
  if (!claim) throw new Error("Expected a run that waits.");
  expect(claim.responseId).toBe("resp_2");
  const { credentials = "" } = await store.resume(claim);
  expect(credentials).toMatch(/^plain\./);
  const left = withCredentials(
    { tools: [request.tools[0], rest] as ToolDefinition[], input: [] },
    credentials.slice(6),
  );
  expect(left.tools).toEqual(request.tools);
  await store.commit(claim, write({ update: { status: "completed", completedAtMs: 1 } }));
  await store.close();
  const reader = new DatabaseSync(path);
  expect(reader.prepare("SELECT * FROM credentials").all()).toEqual([]);
  reader.close();
});

test("what a database loses is not left in the file", async () => {
  const before = sqliteStore({ path });
  const request = { tools: [{ type: "mcp", server_label: "notes", authorization: "s3cret" }] };
  const lease = await before.create(newResponse("resp_1", { request }), "worker-1", 30_000);
  await before.commit(lease, write({ update: { status: "completed", completedAtMs: 1 } }));
  await before.close();
  expect(readFileSync(path, "latin1")).toContain("s3cret");
  const old = new DatabaseSync(path);
  old.exec(`${undoLatest} DROP TABLE credentials; PRAGMA user_version = 3`);
  old.close();
  await sqliteStore({ path }).close();
  expect(readFileSync(path, "latin1")).not.toContain("s3cret");
});

test("a database from before suspects and idempotency keys is migrated", async () => {
  await createStore();
  const old = new DatabaseSync(path);
  old.exec(`${undoLatest} PRAGMA user_version = 4`);
  old.close();
  const store = sqliteStore({ path });

  const [claim] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10, suspects: "only" });
  expect(claim).toMatchObject({ responseId: "resp_1", attempts: 1, suspicion: 1 });
  await store.close();
});

test("a database from before lists of runs is migrated, with titles and threads", async () => {
  const before = sqliteStore({ path });
  await before.createConversation({ id: "conv_1", owner: "ann", createdAtMs: 1, metadata: {}, items: [] });
  const conversation = { id: "conv_1", mustBeFree: false };
  const parts = [{ type: "input_image" }, { type: "input_text", text: `Two\nlines ${"x".repeat(200)}` }];
  const given = [
    newResponse("r0", { input: [inputItem("a", "First"), { ...inputItem("b"), content: parts }] }),
    newResponse("r1", { previousResponseId: "r0", input: [inputItem("c", '"Quoted" \u0000 x')] }),
    newResponse("r2", { previousResponseId: "r1", input: [] }),
    newResponse("r3", { conversation, status: "queued" }),
    newResponse("r4", { conversation, status: "queued" }),
    newResponse("r5", { previousResponseId: "gone" }),
  ];
  for (const response of given) await before.create(response, "worker-1", 30_000);
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(`${undoTraces} PRAGMA user_version = 6`);
  old.close();
  const store = sqliteStore({ path });

  const { data } = await store.listRuns("ann", { limit: 100, order: "asc" });
  expect(data.map(({ id, threadId, title }) => [id, threadId, title])).toEqual([
    ["r0", "r0", `Two lines ${"x".repeat(110)}`],
    ["r1", "r0", '"Quoted" '],
    ["r2", "r0", null],
    ["r3", "conv_1", null],
    ["r4", "conv_1", null],
    ["r5", "gone", null],
  ]);
  const roots = await store.listRuns("ann", { limit: 100, order: "asc", onlyRoots: true });
  expect(roots.data.map(({ id }) => id)).toEqual(["r0", "r3", "r5"]);
  await store.close();
});

test("traces of a file from before they had keys are read, and long ones share pages", async () => {
  const pieces = Array.from({ length: 100 }, (_, last) => ({ first: last, last, lines: "x".repeat(1_200) }));
  const before = sqliteStore({ path });
  const lease = await before.create(newResponse("resp_1"), "worker-1", 30_000);
  for (const trace of pieces.slice(0, 99)) await before.commit(lease, write({ trace }));
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(`${undoEventRows}
    CREATE TABLE old (response_key INTEGER NOT NULL REFERENCES responses (key) ON DELETE CASCADE, last INTEGER NOT NULL,
      first INTEGER NOT NULL, lines TEXT NOT NULL, PRIMARY KEY (response_key, last)) STRICT, WITHOUT ROWID;
    INSERT INTO old SELECT response_key, last, first, lines FROM traces;
    DROP TABLE traces;
    ALTER TABLE old RENAME TO traces;
    PRAGMA user_version = 7`);
  old.close();

  const store = sqliteStore({ path });
  const [next] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 1 });
  if (next) for (const trace of pieces.slice(98)) await store.commit(next, write({ trace }));
  expect(await store.trace("ann", "resp_1", -1)).toEqual(pieces);
  await store.close();
  const database = new DatabaseSync(path);
  const { pages } = database.prepare("SELECT count(*) AS pages FROM dbstat WHERE name = 'traces'").get() as {
    pages: number;
  };
  database.close();
  expect(pages).toBeLessThan(50);
});

test("a crash note names the run that ended the last process: it alone is blamed, and the note is removed", async () => {
  const before = sqliteStore({ path });
  for (const id of ["resp_1", "resp_2"]) await before.create(newResponse(id, { status: "queued" }), "w", 1);
  await before.queue.claim("worker-1", { leaseMs: 30_000, limit: 10 });
  await before.close();
  const note = crashNotePath(`sqlite:${path}`) ?? "";
  writeCrashNote(note, "resp_2");

  const store = sqliteStore({ path });
  const claimed = async (suspects: "none" | "only") =>
    (await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10, suspects })).map(
      ({ responseId, attempts, suspicion }) => ({ responseId, attempts, suspicion }),
    );
  expect(await claimed("none")).toEqual([{ responseId: "resp_1", attempts: 1, suspicion: 0 }]);
  expect(await claimed("only")).toEqual([{ responseId: "resp_2", attempts: 2, suspicion: 1 }]);
  expect(existsSync(note)).toBe(false);
  await store.close();
});

test("a run that works apart is not blamed for a death beside requests in the foreground, up to a point", async () => {
  const first = sqliteStore({ path });
  await first.create(newResponse("resp_1", { status: "queued" }), "w", 1);
  await first.queue.claim("worker-1", { leaseMs: 30_000, limit: 1 });
  await first.close();
  const attempts: (number | undefined)[] = [];
  for (let death = 1; death <= 8; death += 1) {
    const store = sqliteStore({ path });
    const [claim] = await store.queue.claim("worker-1", { leaseMs: 30_000, limit: 1, suspects: "only" });
    attempts.push(claim?.attempts);
    await store.create(newResponse(`foreground_${death}`, { background: false }), "w", 30_000);
    await store.close();
  }
  expect(attempts).toEqual([1, 1, 1, 1, 1, 1, 2, 3]);
});

test.each(["", "{", "null", '{"responseId":5}'])("a broken crash note (%j) is ignored", async (text) => {
  await createStore();
  writeFileSync(`${path}-crash`, text);
  const store = sqliteStore({ path });
  const [claim] = await store.queue.claim("worker-2", { leaseMs: 30_000, limit: 10, suspects: "only" });
  expect(claim).toMatchObject({ responseId: "resp_1", suspicion: 1 });
  await store.close();
});

test("a database of a newer server is refused, and left as it is", async () => {
  await createStore();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 99");
  database.close();

  expect(refusal()).toMatchObject({
    code: "unknown_version",
    message: expect.stringMatching(/has the version 99, but this server knows versions up to \d+/),
  });
});

test("a database of another program is refused, and left as it is", () => {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE customers (name TEXT)");

  expect(refusal()).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("belongs to another program"),
  });
  expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "customers" }]);
  database.close();
});

test("a file that is not a database is refused, and left as it is", async () => {
  writeFileSync(path, "Dear diary, ".repeat(1000));

  expect(refusal()).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("is not a SQLite database"),
  });
  expect(readFileSync(path, "utf8")).toBe("Dear diary, ".repeat(1000));
  // The lock must not stay behind: the file is put right and the server is started again.
  writeFileSync(path, "");
  await sqliteStore({ path }).close();
});

test("a damaged database is refused", async () => {
  await createStore();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, 4096));

  expect(refusal()).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("The database is damaged."),
  });
});

test("a path that cannot be a file is refused", () => {
  mkdirSync(path);
  expect(refusal()).toMatchObject({ code: "unavailable", message: expect.stringContaining("EISDIR") });

  const file = join(folder.path, "file");
  writeFileSync(file, "");
  expect(refusal(join(file, "rondo.db"))).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("cannot be opened for writing. Check the path"),
  });
});

// Root may write everything.
test.skipIf(process.getuid?.() === 0)("a file that may not be written is refused", async () => {
  await createStore();
  chmodSync(path, 0o400);

  expect(refusal()).toMatchObject({ code: "unavailable", message: expect.stringContaining("EACCES") });
});

test.each(["", ":memory:"])("%j is not a path", (wrong) => {
  expect(() => sqliteStore({ path: wrong })).toThrow(InvalidArgumentError);
});
