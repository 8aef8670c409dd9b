// `rondo chat` at a terminal whose keys the test presses. What a real terminal does is in tmux.test.ts.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tool } from "rondo";
import { scriptedModel, startModelServer } from "rondo/testing";
import { expect, test, vi } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { fakeTerminal, keys } from "../terminal/testkit/fake-terminal.ts";
import { testIo } from "../testkit/test-io.ts";
import { AnswerView } from "./answer-view.ts";
import { ChatSession } from "./chat-session.ts";
import { ChatConversation } from "./conversation.ts";
import { modelSource } from "./model-source.ts";
import { SavedChats } from "./saved-chats.ts";
import { createScreen } from "./screen.ts";
import { chatInTerminal } from "./terminal-chat.ts";
import { chatInFakeTerminal } from "./testkit/chatting.ts";

const forever = { text: "Once upon", stall: true } as const;

test("Ctrl-C interrupts the answer, the chat continues, and Ctrl-D leaves with 0", async () => {
  await using server = await startModelServer([forever, { text: "Sorry." }]);
  const chat = chatInFakeTerminal(["--model-url", server.url]);
  await chat.isReady();
  expect(chat.shown).toContain(`Chatting with test-model at ${server.url}.`);
  chat.press("Tell me a story.\r");
  await chat.sees("Once upon");
  chat.press(keys.ctrlC);
  await chat.sees("interrupted · ");
  await chat.isReady();
  chat.press("Never mind.\r");
  await chat.sees("Sorry.");
  await chat.isReady();
  expect(chat.isRaw).toBe(true);
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
  expect(chat.isRaw).toBe(false);
  expect(chat.io.listenerCount).toBe(0);
  expect(server.requests[1]?.body.messages).toEqual([
    { role: "user", content: "Tell me a story." },
    { role: "assistant", content: "Once upon" },
    { role: "user", content: "Never mind." },
  ]);
});

test("one Ctrl-C in an empty line does not leave: the next does", async () => {
  await using server = await startModelServer([{ text: "Yes." }]);
  const chat = chatInFakeTerminal(["--model-url", server.url]);
  await chat.isReady();
  chat.press(keys.ctrlC);
  await chat.sees("(Ctrl-C again leaves.)");
  chat.press("Are you there?\r");
  await chat.sees("Yes.");
  await chat.isReady();
  chat.press(keys.ctrlC);
  await chat.sees("(Ctrl-C again leaves.)", 2);
  chat.press(keys.ctrlC);
  expect(await chat.ended).toBe(130);
});

test("Ctrl-C again, now in an empty line, leaves with 130", async () => {
  await using server = await startModelServer([forever]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "Tell", "me"]);
  await chat.sees("Once upon");
  chat.press(keys.ctrlC);
  await chat.isReady();
  chat.press(keys.ctrlC);
  expect(await chat.ended).toBe(130);
  expect(chat.isRaw).toBe(false);
});

test("a second Ctrl-C does not wait for a tool that does not end", async () => {
  using folder = folderWith();
  const stuck = tool("stuck", "Never ends.", {}, () => new Promise(() => {}));
  const model = scriptedModel([{ calls: [{ name: "stuck" }] }]);
  const terminal = fakeTerminal();
  const output = { isTTY: true, columns: 80 };
  const io = testIo({ env: { XDG_STATE_HOME: folder.path }, input: terminal.input, output });
  await using conversation = new ChatConversation({ source: modelSource([]), model, tools: [stuck] });
  const screen = createScreen(io);
  // Never ends by itself: where it leaves, there is no process any more.
  const chats = new SavedChats(io.env, io.cwd);
  void chatInTerminal(new ChatSession({ io, screen, conversation, chats }), io, screen, "Go");
  await vi.waitFor(() => expect(io.out).toContain("→ stuck"));
  terminal.press(keys.ctrlC);
  terminal.press(keys.ctrlC);
  await vi.waitFor(() => expect(io.exitCodes).toEqual([130]));
  expect(terminal.isRaw).toBe(false);
});

test("Ctrl-C does not wait for a server that does not end the answer", async () => {
  const said = JSON.stringify({ type: "response.output_text.delta", delta: "Once upon" });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const server = createServer(({ method }, response) => {
    if (method === "GET") response.end(JSON.stringify({ data: [{ id: "test" }] }));
    else {
      response.once("close", close);
      response.setHeader("content-type", "text/event-stream");
      response.write(`data: ${said}\n\n`);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const chat = chatInFakeTerminal(["--server", url, "Tell me"]);
  await chat.sees("Once upon");
  chat.press(keys.ctrlC);
  await chat.sees("interrupted · ");
  await closed;
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
  server.close();
  server.closeAllConnections();
});

test("a request without any answer can be interrupted too", async () => {
  await using server = await startModelServer([{ stall: 0 }, "Here."]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "Anyone?"]);
  await server.request(0);
  chat.press(keys.ctrlC);
  await chat.isReady();
  chat.press("And now?\r");
  await chat.sees("Here.");
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
  expect(server.requests[1]?.body.messages).toEqual([{ role: "user", content: "And now?" }]);
});

test("an error leaves the prompt usable", async () => {
  await using server = await startModelServer([{ status: 401 }, "Fine."]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "one"]);
  await chat.sees("does not accept this key");
  await chat.isReady();
  chat.press(`${keys.up}\u007f\u007f\u007ftwo\r`);
  await chat.sees("Fine.");
  await chat.isReady();
  chat.press("/exit\r");
  expect(await chat.ended).toBe(0);
});

test("text typed while the answer streams is the next prompt", async () => {
  const { promise: more, resolve } = Promise.withResolvers<void>();
  await using server = await startModelServer([{ text: ["One", more, "."] }, "Two."]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "first"]);
  await chat.sees("One");
  chat.press("second\r");
  resolve();
  await chat.sees("Two.");
  await chat.isReady();
  chat.press(keys.ctrlD);
  await chat.ended;
  expect(chat.shown).toContain("One.\n");
  expect(server.requests[1]?.body.messages.at(-1)).toEqual({ role: "user", content: "second" });
});

test("thoughts are dim where there are colours, and marked where there are none", async () => {
  await using server = await startModelServer({ thinking: "Hm.", text: "Yes." });
  const ask = async (env: Record<string, string>) => {
    const chat = chatInFakeTerminal(["--model-url", server.url, "Hi"], { env });
    await chat.isReady();
    chat.press(keys.ctrlD);
    await chat.ended;
    return chat.io.out;
  };
  const coloured = await ask({});
  expect(coloured).toContain("\u001b[2mHm.\u001b[22m\nYes.\n\u001b[2m");
  const plain = await ask({ NO_COLOR: "1" });
  expect(plain).toContain("thinking: Hm.\nYes.\n");
  expect(plain.includes("\u001b[2m") || plain.includes("\u001b[1m")).toBe(false);
});

test("a signal from another process leaves at once, and the terminal is restored", async () => {
  await using server = await startModelServer([]);
  const chat = chatInFakeTerminal(["--model-url", server.url]);
  await chat.isReady();
  chat.io.stop();
  expect(chat.io.exitCodes).toEqual([130]);
  expect(chat.isRaw).toBe(false);
  chat.hangUp();
});

test("calls and results are lines of their own, cut to the width, and the end has tokens, time and speed", async () => {
  const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const fail = tool("fail", "Fail.", { text: String }, () => {
    throw new Error("It is broken.");
  });
  const usage = { inputTokens: 10, outputTokens: 20, totalTokens: 30 };
  const calls = [
    { name: "add", input: { a: 25, b: 17 } },
    { name: "fail", input: { text: "x".repeat(500) } },
    { name: "add", input: { a: "no" } },
  ];
  using model = scriptedModel([
    { text: "So.", calls, usage },
    { text: ["It ", "is 42."], usage },
  ]);
  const source = modelSource([]);
  await using conversation = new ChatConversation({ source, model, tools: [add, fail] });
  const io = testIo({ output: { isTTY: true, columns: 41 } });
  let clock = 0;
  {
    // Each look at the clock is a quarter of a second later.
    const now = () => (clock += 250);
    const screen = { ...createScreen(io), isInteractive: false };
    using view = new AnswerView({ screen, clean: (text) => text, draw: () => {}, now });
    for await (const event of conversation.ask("Go", new AbortController().signal)) view.show(event);
  }
  expect(io.out).toBe("So.\nIt is 42.\n");
  const lines = io.err.split("\n");
  expect(lines.slice(0, 2)).toEqual(['→ add {"a":25,"b":17}', `→ fail {"text":"${"x".repeat(23)}…`]);
  expect(lines).toContain("← add 42");
  expect(lines).toContain("✗ fail It is broken.");
  expect(lines.filter((line) => line.startsWith("✗ add ")).length).toBe(1);
  expect(lines.at(-2)).toMatch(/^20 tokens in, 40 out · \d\.\d s · \d+ tokens\/s$/);
});

test("Tab completes commands, models and files", async () => {
  // A name must not drive the terminal.
  const models = ["qwen3:8b", "llama3.2", "ll\u001b]0;owned\u0007"];
  await using server = await startModelServer([], { models });
  using folder = folderWith({ "colours.jsonl": "" });
  const chat = chatInFakeTerminal(["--model-url", server.url, "--model", "qwen3:8b"], { cwd: folder.path });
  await chat.isReady();
  chat.press("/mode\t");
  await chat.sees("/model");
  chat.press("\t");
  await chat.sees("/models");
  chat.press(`${keys.ctrlU}/model ll\t`);
  await chat.sees("/model llama3.2");
  chat.press("\r");
  await chat.sees(`The model is llama3.2 at ${server.url}.`);
  chat.press("/load ./col\t");
  await chat.sees("/load ./colours.jsonl");
  chat.press(`${keys.ctrlU}${keys.ctrlD}`);
  expect(await chat.ended).toBe(0);
});

test("Ctrl-R finds an earlier prompt, and Enter sends it", async () => {
  await using server = await startModelServer(["One.", "Two.", "Three."]);
  const chat = chatInFakeTerminal(["--model-url", server.url]);
  await chat.isReady();
  chat.press("Tell me a story\r");
  await chat.sees("One.");
  await chat.isReady();
  chat.press("Something else\r");
  await chat.sees("Two.");
  await chat.isReady();
  chat.press("\u0012story");
  await chat.sees("(search: story) Tell me a story");
  chat.press("\r");
  await chat.sees("Three.");
  expect(server.requests[2]?.body.messages.at(-1).content).toBe("Tell me a story");
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
});

test("the first prompt is shown as if it had been typed", async () => {
  await using server = await startModelServer(["Hello."]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "Say", "\u001b[31mhello"]);
  await chat.sees("> Say [31mhello\n");
  await chat.sees("Hello.\n");
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
});

test("Markdown is drawn with styles, and control sequences of the model are not", async () => {
  await using server = await startModelServer([
    { text: ["It is **bo", "ld** and `co", "de`.\u001b[31mred\n- one", "\n"] },
  ]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "Hi"]);
  await chat.sees("It is bold and code.[31mred\n• one\n");
  expect(chat.io.out).toContain("It is \u001b[1mbold\u001b[22m and \u001b[36mcode\u001b[39m.[31mred");
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
});
