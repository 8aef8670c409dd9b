// Conversations that outlive their client: saved as they grow, resumed, forked.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadSession, memorySessions, query, type SessionEntry, type SessionStore, tool } from "../index.ts";
import type { Message } from "../model/message.ts";
import { folderSessions } from "../sessions.ts";
import { scriptedModel, startModelServer } from "../testing/index.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import type { Block } from "./blocks.ts";
import { Client } from "./client.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { name: "add", id: "add_1", input: { a: 1, b: 2 } };

async function ask(client: Client, prompt: string): Promise<Block[]> {
  await client.query(prompt);
  return Array.fromAsync(client.receiveMessages());
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rondo-sessions-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const kinds = (entries: readonly SessionEntry[] = []) =>
  entries.map((entry) => (entry.type === "message" ? entry.message.role : entry.type));

describe("a session", () => {
  test("is resumed by its id, with everything that was said", async () => {
    const sessionStore = memorySessions();
    using model = scriptedModel(["Noted.", "Tom."]);
    const monday = new Client({ model, session: "new", sessionStore, systemPrompt: "Be brief." });
    await ask(monday, "My cat is called Tom.");
    await monday.close();
    await using tuesday = new Client({ model, session: monday.sessionId as string, sessionStore });
    expect(tuesday.sessionId).toBe(monday.sessionId);
    await ask(tuesday, "What is my cat called?");
    expect(model.requests[1]?.messages).toEqual([
      ...monday.history,
      { role: "user", content: "What is my cat called?" },
    ]);
    expect((await loadSession(sessionStore, tuesday.sessionId as string)).messages).toEqual(tuesday.history);
  });

  test("can be looked at before the first prompt", async () => {
    const sessionStore = memorySessions();
    const first = new Client({ model: scriptedModel("Hello."), sessionStore });
    await ask(first, "Hi");
    await first.close();
    await using client = new Client({
      model: scriptedModel([]),
      session: first.sessionId as string,
      sessionStore,
    });
    expect(() => (client.messageHistory = [])).toThrow("await client.loadSession() first");
    await Promise.all([client.loadSession(), client.loadSession()]);
    expect(client.history).toEqual(first.history);
  });

  test("is begun by a store alone, and not without either", async () => {
    const model = scriptedModel(["Hello."]);
    await using client = new Client({ model, sessionStore: memorySessions() });
    expect(client.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Client({ model }).sessionId).toBeUndefined();
  });

  test("does not exist before something was said", async () => {
    const folder = temporaryFolder();
    const client = new Client({ model: scriptedModel([]), sessionStore: folderSessions(folder) });
    await client.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("has one writer, until that is closed", async () => {
    const sessionStore = folderSessions(temporaryFolder());
    const first = new Client({ model: scriptedModel(["One.", "Three."]), sessionStore });
    await ask(first, "a");
    const session = first.sessionId as string;
    const second = new Client({ model: scriptedModel("Two."), session, sessionStore });
    await expect(second.query("b")).rejects.toMatchObject({ code: "session_locked", id: session });
    await first.close();
    await ask(second, "b");
    await second.close();
    // The first one reads what the second one did.
    await ask(first, "c");
    await first.close();
    const roles = first.history.map(({ content }) => content);
    expect(roles).toEqual(["a", "One.", "b", "Two.", "c", "Three."]);
    expect((await loadSession(sessionStore, session)).messages).toEqual(first.history);
  });

  test("that does not exist is an error, and nothing is asked", async () => {
    const client = new Client({ model: scriptedModel([]), session: "none", sessionStore: memorySessions() });
    await expect(client.query("Hi")).rejects.toMatchObject({ code: "unknown_session", id: "none" });
  });

  test.each([
    [{ session: "../x" }, "session"],
    [{ session: "" }, "session"],
    [{ fork: true }, "fork"],
    [{ session: "new", fork: true }, "fork"],
    [{ sessionStore: {} as SessionStore }, "sessionStore"],
  ])("is checked: %o", (options, field) => {
    expect(() => new Client({ model: scriptedModel([]), ...options })).toThrow(
      expect.objectContaining({ field }),
    );
  });

  test("that cannot be saved ends the run with the error", async () => {
    const store = memorySessions();
    const warnings = collectWarnings();
    let isFull = true;
    const sessionStore: SessionStore = {
      ...store,
      async append(id, entries) {
        if (isFull) throw new Error("The disk is full.");
        await store.append(id, entries);
      },
    };
    await using client = new Client({ model: scriptedModel("Hello."), sessionStore });
    await client.query("Hi");
    await expect(Array.fromAsync(client.receiveMessages())).rejects.toThrow("The disk is full.");
    expect(warnings).toEqual(["The session could not be saved."]);
    isFull = false;
  });
});

describe("a fork", () => {
  test("continues in a copy, and leaves the original as it is", async () => {
    const folder = temporaryFolder();
    const sessionStore = folderSessions(folder);
    using model = scriptedModel(["One.", "Two.", "Three."]);
    await using first = new Client({ model, sessionStore });
    await ask(first, "a");
    const session = first.sessionId as string;
    const before = readFileSync(join(folder, `${session}.jsonl`), "utf8");
    // While the original is open.
    const { text } = await query({
      prompt: "b",
      options: { model, session, fork: true, sessionStore },
    }).result();
    expect(text).toBe("Two.");
    expect(readFileSync(join(folder, `${session}.jsonl`), "utf8")).toBe(before);
    const [copy] = (await sessionStore.list()).filter(({ forkedFrom }) => forkedFrom === session);
    expect(
      (await loadSession(sessionStore, copy?.id as string)).messages.map(({ content }) => content),
    ).toEqual(["a", "One.", "b", "Two."]);
    await ask(first, "c");
    expect(first.history.map(({ content }) => content)).toEqual(["a", "One.", "c", "Three."]);
  });
});

describe("query()", () => {
  test("names its session, and another query resumes it", async () => {
    const sessionStore = folderSessions(temporaryFolder());
    using model = scriptedModel(["One.", "Two."]);
    const first = query({ prompt: "a", options: { model, session: "new", sessionStore } });
    const messages = await Array.fromAsync(first);
    const session = first.sessionId as string;
    expect(messages[0]).toMatchObject({ type: "system", session_id: session });
    expect(messages.at(-1)).toMatchObject({ type: "result", session_id: session, text: "One." });
    await query({ prompt: "b", options: { model, session, sessionStore } }).result();
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(["a", "One.", "b"]);
  });
});

describe("what is saved", () => {
  test("is each message when it is there: the calls before their tools run, the results before the model has them", async () => {
    const sessionStore = memorySessions();
    const seen: string[][] = [];
    const look = async () => seen.push(kinds(await sessionStore.read(client.sessionId as string)));
    const watched = tool("add", "Add.", { a: Number, b: Number }, async () => {
      await look();
      return 3;
    });
    using model = scriptedModel([
      { calls: [callAdd] },
      () => {
        void look();
        return "3.";
      },
    ]);
    await using client = new Client({ model, tools: [watched], autoExecuteTools: true, sessionStore });
    await ask(client, "Add");
    expect(seen).toEqual([
      ["session", "user", "assistant"],
      ["session", "user", "assistant", "tool"],
    ]);
    expect(kinds(await sessionStore.read(client.sessionId as string))).toEqual([
      "session",
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  test("is a result of yours in manual mode", async () => {
    const sessionStore = memorySessions();
    await using client = new Client({
      model: scriptedModel([{ calls: [callAdd] }]),
      tools: [add],
      sessionStore,
    });
    await ask(client, "Add");
    await client.addToolResult("add_1", 3);
    expect(kinds(await sessionStore.read(client.sessionId as string)).at(-1)).toBe("tool");
  });

  test("is the text so far of an answer that was interrupted", async () => {
    const sessionStore = memorySessions();
    const model = scriptedModel([{ text: ["Once upon", new Promise(() => {})] }]);
    await using client = new Client({ model, sessionStore });
    await client.query("Tell");
    for await (const _ of client.receiveMessages()) await client.interrupt();
    const { messages } = await loadSession(sessionStore, client.sessionId as string);
    expect(messages.at(-1)).toEqual({ role: "assistant", content: "Once upon" });
  });

  test("is only what changed, where history is cut or replaced", async () => {
    const sessionStore = memorySessions();
    using model = scriptedModel(["One.", "Two.", "Three."]);
    await using client = new Client({ model, sessionStore });
    await ask(client, "a");
    await ask(client, "b");
    client.messageHistory = client.messageHistory.slice(0, 2);
    await ask(client, "c");
    const entries = await sessionStore.read(client.sessionId as string);
    expect(kinds(entries)).toEqual([
      "session",
      "user",
      "assistant",
      "user",
      "assistant",
      "rewind",
      "user",
      "assistant",
    ]);
    expect(entries?.[5]).toEqual({ type: "rewind", to: 2, messages: [] });
    const { messages } = await loadSession(sessionStore, client.sessionId as string);
    expect(messages).toEqual(client.history);
  });
});

describe("a session that ends in open calls", () => {
  async function withOpenCalls(sessionStore: SessionStore): Promise<string> {
    const call = {
      id: "add_1",
      type: "function",
      function: { name: "add", arguments: '{"a":1,"b":2}' },
    } as const;
    const messages: Message[] = [
      { role: "user", content: "Add" },
      { role: "assistant", content: "", tool_calls: [call] },
    ];
    await sessionStore.append("open", [
      { type: "session", version: 1, id: "open", createdAt: new Date().toISOString() },
      ...messages.map((message) => ({ type: "message", message }) as const),
    ]);
    return "open";
  }

  test.each([
    ["", ["user", "assistant", "tool"]],
    ["Well?", ["user", "assistant", "tool", "user"]],
  ])("has them run first in automatic mode, with the prompt %j", async (prompt, roles) => {
    const sessionStore = memorySessions();
    const session = await withOpenCalls(sessionStore);
    using model = scriptedModel("It is 3.");
    await using client = new Client({ model, tools: [add], autoExecuteTools: true, session, sessionStore });
    const blocks = await ask(client, prompt);
    expect(blocks.map(({ type }) => type)).toEqual(["tool_use", "tool_result", "text"]);
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(roles);
    expect((await loadSession(sessionStore, session)).messages).toEqual(client.history);
    expect(client.history.map(({ role }) => role)).toEqual([...roles, "assistant"]);
  });

  test("answers the prompt also if the tools are gone", async () => {
    const sessionStore = memorySessions();
    const session = await withOpenCalls(sessionStore);
    using model = scriptedModel("Sorry.");
    await using client = new Client({ model, autoExecuteTools: true, session, sessionStore });
    await ask(client, "Well?");
    expect(client.result?.text).toBe("Sorry.");
    expect(client.history.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "user",
      "assistant",
    ]);
  });

  test("leaves them to you in manual mode", async () => {
    const sessionStore = memorySessions();
    const session = await withOpenCalls(sessionStore);
    using model = scriptedModel("It is 3.");
    await using client = new Client({ model, tools: [add], session, sessionStore });
    await client.loadSession();
    expect(client.openCalls).toMatchObject([{ id: "add_1", name: "add", input: { a: 1, b: 2 } }]);
    await expect(client.query("Well?")).rejects.toMatchObject({ code: "unanswered_tool_calls" });
    await client.addToolResult("add_1", 3);
    await ask(client, "");
    expect(client.result?.text).toBe("It is 3.");
  });
});

test("a process that is killed while a tool runs is resumed by another, which runs the tool", async () => {
  const folder = temporaryFolder();
  const program = fileURLToPath(new URL("./testkit/killed-in-tool.ts", import.meta.url));
  await using server = await startModelServer([{ calls: [callAdd] }, "It is 3."]);
  const child = spawn(process.execPath, ["--conditions=rondo-source", program, folder, server.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [session] = (await once(child.stdout, "data")) as [Buffer];
  child.kill("SIGKILL");
  await once(child, "exit");
  const sessionStore = folderSessions(folder);
  const { text } = await query({
    prompt: "Well?",
    options: {
      baseURL: server.url,
      model: "test",
      tools: [add],
      autoExecuteTools: true,
      session: session.toString().trim(),
      sessionStore,
    },
  }).result();
  expect(text).toBe("It is 3.");
  expect(server.requests[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "user",
  ]);
});

test("without a store, sessions are in the folder of the user's state", async () => {
  const folder = temporaryFolder();
  const program = fileURLToPath(new URL("./testkit/default-store.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=rondo-source", program], {
    env: { ...process.env, XDG_STATE_HOME: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [session] = (await once(child.stdout, "data")) as [Buffer];
  await once(child, "exit");
  expect(readdirSync(join(folder, "rondo/sessions"))).toEqual([`${session.toString().trim()}.jsonl`]);
});
