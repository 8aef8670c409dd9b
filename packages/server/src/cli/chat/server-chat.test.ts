// `rondo chat --server` with a real Rondo server.
import { once } from "node:events";
import { join } from "node:path";
import { type AnyTool, tool } from "rondo";
import { readSessionFile } from "rondo/sessions";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import type { ConfigInput } from "../../config/schema.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { startNotebook } from "../../executor/mcp/testkit/notebook-server.ts";
import { hashKey } from "../../http/auth-keys.ts";
import { startServer } from "../../http/server.ts";
import { createApiClient } from "../api-client.ts";
import { keys } from "../terminal/testkit/fake-terminal.ts";
import type { ChatEvent } from "./chat-events.ts";
import type { ChatConversation } from "./conversation.ts";
import { openConversation } from "./open-conversation.ts";
import { chatInFakeTerminal, chatPiped } from "./testkit/chatting.ts";

async function serve(script: readonly ScriptedStep[], config: ConfigInput = {}) {
  const model = scriptedModel(script, { name: "test" });
  const server = await startServer(
    resolveConfig({
      port: 0,
      store: "memory",
      models: { test: model },
      log: { level: "silent" },
      shutdownMs: 0,
      ...config,
    }),
  );
  onTestFinished(async () => {
    await server.close();
    model.assertUsedUp();
  });
  return { url: server.url, model, close: () => server.close() };
}

const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };
const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const addModule = `import { tool } from "rondo";
export const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);`;
const callAdd = { name: "add", input: { a: 25, b: 17 } };

/** The events of one prompt. */
async function ask(conversation: ChatConversation, prompt: string, signal = new AbortController().signal) {
  const events: ChatEvent[] = [];
  for await (const event of conversation.ask(prompt, signal)) events.push(event);
  return events;
}

async function converse(server: string, tools: readonly AnyTool[]) {
  const { signal } = new AbortController();
  return (await openConversation({ flags: { server }, tools, env: {}, signal })).conversation;
}

test("a server that keeps nothing gets the whole conversation", async () => {
  const { url, model } = await serve(["Hello, Ada.", { calls: [callAdd] }, "It is 42."], { store: "none" });
  const conversation = await converse(url, [add]);
  await ask(conversation, "I am Ada.");
  const events = await ask(conversation, "What is 25 + 17?");
  expect(events).toContainEqual({ type: "text", text: "It is 42." });
  expect(model.requests[2]?.messages).toMatchObject([
    { role: "user", content: "I am Ada." },
    { role: "assistant", content: "Hello, Ada." },
    { role: "user", content: "What is 25 + 17?" },
    { role: "assistant" },
    { role: "tool", content: "42" },
  ]);
});

test("each answer continues the last one", async () => {
  const { url, model } = await serve([
    { thinking: "Hm.", text: ["Hello, ", "Ada."], usage },
    "You are Ada.",
    "Who are you?",
  ]);
  const { exitCode, out, err } = await chatPiped(
    ["--server", url, "--system", "Be brief."],
    "I am Ada.\nWho am I?\n/clear\nWho am I?\n",
  );
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "Hello, Ada.\nYou are Ada.\nWho are you?\n" });
  expect(err).toMatch(/^thinking: Hm\.\n5 tokens in, 7 out · \d+\.\d s\n/);
  expect(model.requests.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
    ["system", "user"],
    ["system", "user", "assistant", "user"],
    ["system", "user"],
  ]);
});

test("tools of the chat run here, at the same time and over several rounds", async () => {
  const { url, model } = await serve([
    { text: "So.", calls: [callAdd, { name: "add", input: { a: 1, b: 2 } }], usage },
    { calls: [callAdd], usage },
    { text: "42 and 3.", usage },
    "Bye.",
  ]);
  const conversation = await converse(url, [add]);
  const events = await ask(conversation, "What is 25 + 17, and 1 + 2?");
  const shown = events.flatMap((event) =>
    event.type === "call" ? [event.name] : event.type === "result" ? [event.output] : [],
  );
  expect(shown).toEqual(["add", "add", 42, 3, "add", 42]);
  expect(events.at(-1)).toMatchObject({
    type: "end",
    reason: "completed",
    usage: { inputTokens: 15, outputTokens: 21 },
  });
  expect(model.requests[0]?.tools).toEqual([add.toOpenAI()]);
  await ask(conversation, "Bye!");
  const roles = model.requests[3]?.messages.map(({ role }) => role).join(" ");
  expect(roles).toBe("user assistant tool tool assistant tool assistant user");
});

test("a tool that fails is reported to the model", async () => {
  const fail = tool("fail", "Fail.", {}, () => {
    throw new Error("It is broken.");
  });
  const { url, model } = await serve([{ calls: [{ name: "fail" }] }, "Sorry."]);
  const events = await ask(await converse(url, [fail]), "Go");
  expect(events).toContainEqual(
    expect.objectContaining({ type: "result", output: "It is broken.", isError: true }),
  );
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    role: "tool",
    content: '{"error":"It is broken.","tool":"fail"}',
  });
});

test("tools of the server are shown as they run", async () => {
  const clock = tool("clock", "Tells the time.", { city: String }, ({ city }) => `12:00 in ${city}`);
  const { url } = await serve([{ calls: [{ name: "clock", input: { city: "Oslo" } }] }, "Noon."], {
    tools: [clock],
  });
  const { out, err } = await chatPiped(["--server", url, "What time is it in Oslo?"]);
  expect(out).toBe("Noon.\n");
  expect(err).toContain('→ clock {"city":"Oslo"}\n← clock 12:00 in Oslo\n');
});

describe("a call that the server wants approved", () => {
  const script = [{ text: "May I?", calls: [{ name: "pay", input: { n: 7 } }] }, "Done."];
  async function serveNotebook() {
    const notebook = await startNotebook({});
    const servers = { notes: { url: notebook.url, requireApproval: "always" as const } };
    return { notebook, ...(await serve(script, { mcp: { servers } })) };
  }

  test.each([
    ["runs when it is allowed", "y\r", ['pay({"n":7})']],
    ["does not run otherwise", "\r", []],
  ])("%s", async (_, keysPressed, calls) => {
    const { url, notebook } = await serveNotebook();
    const chat = chatInFakeTerminal(["--server", url, "Pay."]);
    await chat.sees('The server asks for approval: pay {"n":7}');
    await chat.sees("Allow it? [y/N] ");
    chat.press(keysPressed);
    await chat.sees("Done.");
    await chat.isReady();
    chat.press(keys.ctrlD);
    expect(await chat.ended).toBe(0);
    expect(notebook.calls).toEqual(calls);
  });

  test("is shown in a pipe, where nobody can allow it", async () => {
    const { url, notebook } = await serveNotebook();
    const { out, err } = await chatPiped(["--server", url], "Pay.\nWell?\n");
    expect(out).toBe("May I?\nDone.\n");
    expect(err).toContain('The server asks for approval: pay {"n":7}');
    expect(notebook.calls).toEqual([]);
  });
});

test("the server keeps the conversation: each request continues the last response, with any model", async () => {
  const other = scriptedModel(["Two."], { name: "other" });
  const { url } = await serve([], {
    defaultModel: "test",
    models: { other, test: scriptedModel("One.", { name: "test" }) },
  });
  await chatPiped(["--server", url], "Hi\n/model other\nAgain\n");
  const data = await createApiClient({ baseUrl: url }).list(2);
  expect(data.map(({ previous_response_id }) => previous_response_id)).toEqual([data[1]?.id, null]);
  expect(other.requests[0]?.messages.map(({ content }) => content)).toEqual(["Hi", "One.", "Again"]);
});

test("Ctrl-C interrupts the answer on the server too, and the conversation continues from the partial answer", async () => {
  const { url, model } = await serve([{ text: ["Once upon", new Promise(() => {})] }, "Sorry."]);
  const chat = chatInFakeTerminal(["--server", url, "Tell me a story."]);
  await chat.sees("Once upon");
  chat.press(keys.ctrlC);
  await chat.sees("interrupted · ");
  await model.requests[0]?.ended;
  expect(model.requests[0]?.wasLeft).toBe(true);
  await chat.isReady();
  chat.press("Never mind.\r");
  await chat.sees("Sorry.");
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
  expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual([
    "Tell me a story.",
    "Once upon",
    "Never mind.",
  ]);
});

test("a call that is interrupted while it runs here is answered before the next prompt", async () => {
  const controller = new AbortController();
  const slow = tool("slow", "Takes its time.", {}, (_, { signal }) => {
    const stopped = once(signal, "abort");
    controller.abort();
    return stopped;
  });
  const { url, model } = await serve([{ calls: [{ name: "slow" }] }, "Fine."]);
  const conversation = await converse(url, [slow]);
  expect((await ask(conversation, "Go", controller.signal)).at(-1)).toMatchObject({ reason: "interrupted" });
  await ask(conversation, "Never mind.");
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  expect(JSON.stringify(model.requests[1]?.messages[2])).toContain("cancelled");
});

test("a failed response is reported, and is not part of the conversation", async () => {
  const { url, model } = await serve([{ text: "Ha", error: new Error("x") }, "Fine."]);
  const { exitCode, out, err } = await chatPiped(["--server", url], "one\ntwo\n");
  expect(exitCode).toBe(1);
  expect(out).toBe("Ha\nFine.\n");
  expect(err).toContain("Something went wrong in this server");
  expect(model.requests[1]?.messages).toEqual([{ role: "user", content: "two" }]);
});

test("a server without a default model is asked for its first, and others can be chosen", async () => {
  const other = scriptedModel(["Other.", "Other again."], { name: "other" });
  const { url } = await serve([], { models: { other, test: scriptedModel("Test.", { name: "test" }) } });
  const { out, err } = await chatPiped(["--server", url], "Hi\n/models\n/model test\nHi\n/model none\n");
  expect(out).toBe("Other.\nTest.\n");
  expect(err).toContain("The server has several models; this is other.");
  expect(err).toContain("  other\n  test\n");
  expect(err).toContain(`There is no model 'none' at ${url}/v1. There are: other, test.`);
  const named = await chatPiped(["--model", "other", "Hi"], "", { env: { RONDO_SERVER: url } });
  expect(named.out).toBe("Other again.\n");
});

test("the conversation can be saved, also the rounds before a failure", async () => {
  using folder = folderWith({ "tools.ts": addModule });
  const { url } = await serve(["Hello.", { calls: [callAdd] }, { text: "Ha", error: new Error("x") }]);
  const script = "Hi\nAdd\n/save chat.jsonl\n";
  await chatPiped(["--server", url, "--tools", "tools.ts"], script, { cwd: folder.path });
  const { messages, info } = await readSessionFile(join(folder.path, "chat.jsonl"));
  expect(info).toMatchObject({ endpoint: `${url}/v1`, place: "server" });
  expect(messages).toMatchObject([
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "Add" },
    { role: "assistant", tool_calls: [{ function: { name: "add" } }] },
    { role: "tool", content: "42" },
  ]);
});

describe("a chat that is continued", () => {
  test("goes on from the last response, with the same server, model and system prompt", async () => {
    using folder = folderWith();
    const env = { XDG_STATE_HOME: folder.path };
    const { url, model } = await serve(["Hello, Ada.", "You are Ada."]);
    const first = chatInFakeTerminal(["--server", url, "--system", "Be brief.", "I am Ada."], { env });
    await first.sees("Hello, Ada.");
    await first.isReady();
    first.press(keys.ctrlD);
    expect(await first.ended).toBe(0);
    const { out } = await chatPiped(["--continue", "Who am I?"], "", { env });
    expect(out).toBe("You are Ada.\n");
    const data = await createApiClient({ baseUrl: url }).list(2);
    expect(data[0]?.previous_response_id).toBe(data[1]?.id);
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual([
      "Be brief.",
      "I am Ada.",
      "Hello, Ada.",
      "Who am I?",
    ]);
  });

  test("sends the whole conversation to a server that does not have the response", async () => {
    using folder = folderWith();
    const env = { XDG_STATE_HOME: folder.path };
    const { url } = await serve(["Hello, Ada."]);
    const first = chatInFakeTerminal(["--server", url, "I am Ada."], { env });
    await first.sees("Hello, Ada.");
    await first.isReady();
    first.press(keys.ctrlD);
    await first.ended;
    const other = await serve(["You are Ada."]);
    const { out, err } = await chatPiped(["--continue", "--server", other.url, "Who am I?"], "", { env });
    expect({ out, err }).toMatchObject({ out: "You are Ada.\n" });
    expect(other.model.requests[0]?.messages.map(({ content }) => content)).toEqual([
      "I am Ada.",
      "Hello, Ada.",
      "Who am I?",
    ]);
  });
});

test("a key is sent, and a wrong or missing one is reported", async () => {
  const key = "rondo_test";
  const auth = { keys: [{ owner: "me", hash: hashKey(key) }] };
  const { url } = await serve(["In.", "In."], { auth });
  expect((await chatPiped(["--server", url, "--api-key", key, "Hi"])).out).toBe("In.\n");
  expect((await chatPiped(["--server", url, "Hi"], "", { env: { RONDO_API_KEY: key } })).out).toBe("In.\n");
  for (const flags of [[], ["--api-key", "wrong"]]) {
    const { exitCode, out, err } = await chatPiped(["--server", url, ...flags, "Hi"]);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(err).toContain("Pass its key with --api-key or RONDO_API_KEY; `rondo key` makes one.");
    expect(err).not.toContain("wrong");
  }
});

test("a server that is down is reported, at the start and later", async () => {
  const { url, close } = await serve(["One."]);
  const chat = chatInFakeTerminal(["--server", url, "Hi"]);
  await chat.sees("One.");
  await chat.isReady();
  await close();
  chat.press("Still there?\r");
  await chat.sees(
    `No server answers at ${url}/v1: the connection was refused. Start one with \`rondo serve\``,
  );
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
  const { exitCode, err } = await chatPiped(["--server", url, "Hi"]);
  expect(exitCode).toBe(1);
  expect(err).toContain("rondo: No server answers at");
});
