// Chats are stored as they grow, and continued by a later one.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { keys } from "../terminal/testkit/fake-terminal.ts";
import { chatInFakeTerminal, chatPiped } from "./testkit/chatting.ts";

/** Chats at a terminal with one prompt. */
async function chatOnce(
  url: string,
  prompt: string,
  answer: string,
  env: Record<string, string>,
  cwd: string,
) {
  const chat = chatInFakeTerminal(["--model-url", url, prompt], { env, cwd });
  await chat.sees(answer);
  await chat.isReady();
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
}

test("--continue continues the last chat of the folder, with its model and system prompt", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer(["Here.", "There.", "You said here.", "You said there."]);
  await chatOnce(server.url, "This is here.", "Here.", env, "/here");
  await chatOnce(server.url, "This is there.", "There.", env, "/there");
  const here = await chatPiped(["--continue", "What?"], "", { env, cwd: "/here" });
  expect(here).toMatchObject({ exitCode: 0, out: "You said here.\n" });
  expect(server.requests[2]?.body.messages.map(({ content }: { content: string }) => content)).toEqual([
    "This is here.",
    "Here.",
    "What?",
  ]);
  // Elsewhere, the last of all.
  await chatPiped(["--continue", "--fork", "And?"], "", { env, cwd: "/elsewhere" });
  expect(server.requests[3]?.body.messages.map(({ content }: { content: string }) => content)).toEqual([
    "This is here.",
    "Here.",
    "What?",
    "You said here.",
    "And?",
  ]);
  // Two chats and a copy.
  expect(readdirSync(join(state.path, "rondo/sessions"))).toHaveLength(3);
});

test("a chat in a pipe is not stored, unless it continues one", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer("Hello.");
  await chatPiped(["--model-url", server.url, "Hi"], "", { env });
  expect(readdirSync(state.path)).toEqual([]);
  const { exitCode, err } = await chatPiped(["--continue"], "", { env });
  expect(exitCode).toBe(1);
  expect(err).toBe("rondo: There is no chat to continue yet. `rondo chat` begins one.\n");
});

test("--resume takes the beginning of an id, and names the chats if there is none", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer(["One.", "Two."]);
  await chatOnce(server.url, "First words", "One.", env, "/");
  const [file = ""] = readdirSync(join(state.path, "rondo/sessions"));
  expect((await chatPiped(["--resume", file.slice(0, 8), "Go on"], "", { env })).out).toBe("Two.\n");
  const { exitCode, err } = await chatPiped(["--resume", "nope", "Go on"], "", { env });
  expect(exitCode).toBe(1);
  expect(err).toContain("There is no chat 'nope'. The last ones:\n");
  expect(err).toContain(`  ${file.slice(0, 8)}  `);
  expect(err).toContain("First words");
});

test("a chat that is open elsewhere is not continued, but can be copied", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer(["One.", "Two."]);
  const chat = chatInFakeTerminal(["--model-url", server.url, "Hi"], { env, cwd: "/" });
  await chat.sees("One.");
  await chat.isReady();
  const { err } = await chatPiped(["--continue", "Go on"], "", { env });
  expect(err).toContain(`This chat is open already, in process ${process.pid} on `);
  expect(err).toContain("Close it there, or continue in a copy with --fork.");
  expect((await chatPiped(["--continue", "--fork", "Go on"], "", { env })).out).toBe("Two.\n");
  chat.press(keys.ctrlD);
  await chat.ended;
});

test("/load lists the chats, and continues one by its id or from a file", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer(["Blue.", "It was blue.", "Still blue."]);
  await chatOnce(server.url, "Name a colour", "Blue.", env, "/");
  const [file = ""] = readdirSync(join(state.path, "rondo/sessions"));
  const id = file.slice(0, 8);
  const chat = chatInFakeTerminal(["--model-url", server.url], { env, cwd: state.path });
  await chat.isReady();
  chat.press("/load\r");
  await chat.sees("/load ID continues one.");
  expect(chat.shown).toContain(`  ${id}  `);
  chat.press(`/load ${id}\r`);
  await chat.sees("Loaded: 2 messages.");
  chat.press("Which was it?\r");
  await chat.sees("It was blue.");
  chat.press("/save colours.jsonl\r");
  await chat.sees("Saved to colours.jsonl.");
  chat.press("/clear\r");
  await chat.sees("A new conversation has begun.");
  chat.press("/load ./colours.jsonl\r");
  await chat.sees("Loaded: 4 messages.");
  chat.press("And now?\r");
  await chat.sees("Still blue.");
  expect(server.requests[2]?.body.messages).toHaveLength(5);
  chat.press("/load ./missing.jsonl\r");
  await chat.sees("There is no file ./missing.jsonl, and no chat of that id.");
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
});

test("a chat that is continued shows where it stands", async () => {
  using state = folderWith();
  const env = { XDG_STATE_HOME: state.path };
  await using server = await startModelServer("Blue.");
  await chatOnce(server.url, "Name a colour", "Blue.", env, "/");
  const chat = chatInFakeTerminal(["--continue"], { env, cwd: "/" });
  await chat.sees("This continues a chat of 2 messages.\n> Name a colour\nBlue.\n> ");
  chat.press(keys.ctrlD);
  expect(await chat.ended).toBe(0);
});

test("--fork and --resume are refused where they make no sense", async () => {
  expect(await chatPiped(["--fork"])).toMatchObject({ exitCode: 2 });
  expect(await chatPiped(["--continue", "--resume", "abcd"])).toMatchObject({ exitCode: 2 });
});
