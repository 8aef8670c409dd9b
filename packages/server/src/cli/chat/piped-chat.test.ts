// `rondo chat` in pipes, straight to a model server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSessionFile } from "rondo/sessions";
import { startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { runCli } from "../program.ts";
import { testIo } from "../testkit/test-io.ts";
import { chatCommand } from "./chat.ts";
import { chatPiped } from "./testkit/chatting.ts";

const usage = { inputTokens: 1200, outputTokens: 3, totalTokens: 1203 };

test("only the answer goes to standard output; thoughts and numbers go to standard error, without colours", async () => {
  await using server = await startModelServer([
    { thinking: "Hm, easy.", text: ["\n\n25 + 17 ", "is 42."], usage },
  ]);
  const { exitCode, out, err } = await chatPiped(["--model-url", server.url], "What is 25 + 17?\n");
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "25 + 17 is 42.\n" });
  expect(err).toMatch(/^thinking: Hm, easy\.\n1,200 tokens in, 3 out · \d+\.\d s\n$/);
});

test("each line is a prompt of one conversation; a backslash continues it; the system prompt is first", async () => {
  await using server = await startModelServer(["One.", "Two."]);
  const { exitCode, out } = await chatPiped(
    ["--model-url", server.url, "--system", "Be brief."],
    "first \\\nstill first\n\nsecond",
  );
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "One.\nTwo.\n" });
  expect(server.requests[1]?.body.messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "first \nstill first" },
    { role: "assistant", content: "One." },
    { role: "user", content: "second" },
  ]);
});

test("the arguments are one prompt, and standard input is left alone", async () => {
  await using server = await startModelServer(["Hello!"]);
  const { out } = await chatPiped(["--model-url", server.url, "say", "hello"], "not read\n");
  expect(out).toBe("Hello!\n");
  expect(server.requests[0]?.body.messages).toEqual([{ role: "user", content: "say hello" }]);
});

test("the model is the first that can chat, or the one that is named", async () => {
  const options = { models: ["nomic-embed-text", "qwen3:8b", "llama3:latest"] };
  await using server = await startModelServer("Hi.", options);
  await chatPiped(["--model-url", server.url, "Hi"]);
  await chatPiped(["--model-url", server.url, "--model", "llama3", "Hi"]);
  await chatPiped(["Hi"], "", { env: { RONDO_MODEL_URL: server.url, RONDO_MODEL_API_KEY: "secret" } });
  expect(server.requests.map(({ body }) => body.model)).toEqual(["qwen3:8b", "llama3", "qwen3:8b"]);
  expect(server.requests[2]?.headers["authorization"]).toBe("Bearer secret");
});

test("a URL without /v1 is used with it, and that is said", async () => {
  await using server = await startModelServer("Hi.");
  const bare = server.url.replace(/\/v1$/, "");
  const { exitCode, out, err } = await chatPiped(["--model-url", bare, "Hi"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "Hi.\n" });
  expect(err).toContain(
    `There is no model API at ${bare}, but there is one at ${server.url}, which is used.`,
  );
});

test("a failed answer is reported, the next prompt is asked, and the exit code is 1", async () => {
  await using server = await startModelServer([{ status: 400, body: { error: { message: "no" } } }, "Fine."]);
  const { exitCode, out, err } = await chatPiped(["--model-url", server.url], "one\ntwo\n");
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "Fine.\n" });
  expect(err).toContain("refuses the request (status 400: no)");
  expect(err).not.toContain("    at ");
  expect(server.requests[1]?.body.messages).toEqual([{ role: "user", content: "two" }]);
});

test("control characters of an answer reach a file, but not a terminal", async () => {
  await using server = await startModelServer("a\u001b[31mb\u0007");
  const args = ["--model-url", server.url, "Hi"];
  expect((await chatPiped(args)).out).toBe("a\u001b[31mb\u0007\n");
  const io = testIo({ output: { isTTY: true } });
  await runCli(["chat", ...args], io);
  expect(io.out).toBe("a[31mb\n");
});

describe("reports that", () => {
  test("nobody answers", async () => {
    const server = await startModelServer([]);
    await server.close();
    const { exitCode, out, err } = await chatPiped(["--model-url", server.url, "Hi"]);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(err).toBe(
      `rondo: No model server answers at ${server.url}. Start it (Ollama: \`ollama serve\`), or pass --model-url URL of one that runs.\n`,
    );
  });

  test("a model is missing, and which there are", async () => {
    await using server = await startModelServer([], { models: ["a", "b"] });
    const { exitCode, err } = await chatPiped(["--model-url", server.url, "--model", "c", "Hi"]);
    expect(exitCode).toBe(1);
    expect(err).toBe(`rondo: There is no model 'c' at ${server.url}. There are: a, b.\n`);
  });

  test("a model is missing where models come and go", async () => {
    await using server = await startModelServer([
      { status: 404, body: { error: { message: "model 'test-model' not found" } } },
    ]);
    const { err } = await chatPiped(["--model-url", server.url, "Hi"]);
    expect(err).toContain("There is no model 'test-model'");
    expect(err).toContain("There are: test-model.");
  });

  test("the key is wrong", async () => {
    await using server = await startModelServer([{ status: 401 }]);
    const { exitCode, err } = await chatPiped(["--model-url", server.url, "Hi"]);
    expect(exitCode).toBe(1);
    expect(err).toContain("does not accept this key (status 401). Pass the right one with --api-key");
  });

  test("it is not a model server", async () => {
    await using server = await startModelServer([], {
      routes: { "GET /v1/models": { body: "<html>", headers: { "content-type": "text/html" } } },
    });
    const { err } = await chatPiped(["--model-url", server.url, "Hi"]);
    expect(err).toContain("is no model server. Check --model-url");
    const elsewhere = await chatPiped(["--model-url", server.url.replace("/v1", "/x"), "Hi"]);
    expect(elsewhere.err).toContain("is no model server. Check --model-url: it usually ends in /v1.");
  });

  test("no model can chat", async () => {
    await using server = await startModelServer([], { models: ["nomic-embed-text", "bge-m3"] });
    const { exitCode, err } = await chatPiped(["--model-url", server.url, "Hi"]);
    expect(exitCode).toBe(1);
    expect(err).toBe(
      `rondo: There is no model that can chat (only nomic-embed-text, bge-m3) at ${server.url} yet. Get one (Ollama: \`ollama pull qwen3:8b\`), or name one with --model.\n`,
    );
  });

  test.each([
    ["a URL is none", ["--model-url", "localhost:11434"], "Expected an http or https URL."],
    ["there are two", ["--model-url", "http://a", "--server", "http://b"], "cannot both be given"],
    ["a flag is unknown", ["--modle", "x"], "(Did you mean --model?)"],
  ])("%s", async (_, args, expected) => {
    const { exitCode, err } = await chatPiped([...args, "Hi"]);
    expect(exitCode).toBe(2);
    expect(err).toContain(expected);
  });
});

describe("without a name", () => {
  async function chatWith(found: { url: string; models: string[] }[], args: string[] = []) {
    const io = testIo();
    const discover = async () => found.map((server) => ({ kind: "other" as const, ...server }));
    await chatCommand(io, discover).parseAsync([...args, "What is 25 + 17?"], { from: "user" });
    return { out: io.out, err: io.err };
  }

  test("the model servers of this machine are asked, and the one that has the model", async () => {
    await using one = await startModelServer(["One."], { models: ["a"] });
    await using two = await startModelServer(["Two."], { models: ["b"] });
    const found = [
      { url: one.url, models: ["a"] },
      { url: two.url, models: ["b"] },
    ];
    expect((await chatWith(found)).out).toBe("One.\n");
    expect((await chatWith(found, ["--model", "b"])).out).toBe("Two.\n");
    await expect(chatWith(found, ["--model", "c"])).rejects.toThrow(
      "There is no model 'c'. There are: a, b.",
    );
  });

  test("without any model server the demo model is used, with a notice", async () => {
    const { out, err } = await chatWith([]);
    expect(out).toBe("25 + 17 is 42.\n");
    expect(err).toContain("This is the demo model");
    expect(err).toContain("no model server was found. Looked at http://localhost:11434/v1 (Ollama), ");
    expect(err).toContain("--model-url URL names another place.");
    expect((await chatPiped(["--model", "demo", "What is 3 * 4?"])).out).toContain("12");
  });
});

describe("a named model without a model server", () => {
  test.each([
    [
      [],
      "There is no model 'x': no model server was found. Looked at http://localhost:11434/v1 (Ollama), http://localhost:1234/v1 (LM Studio), http://localhost:8080/v1 (llama.cpp), http://localhost:8000/v1 (vLLM). Start a model server that has it, or pass --model-url URL of one. `--model demo` is the demo model.",
    ],
    [
      [{ kind: "ollama" as const, url: "http://localhost:11434/v1", models: [] }],
      "There is no model 'x': Ollama at http://localhost:11434/v1 answers, but has no model that can chat. Start",
    ],
  ])("is an error that says where was looked: %#", async (found, expected) => {
    const chatting = chatCommand(testIo(), async () => found);
    await expect(chatting.parseAsync(["--model", "x", "Hi"], { from: "user" })).rejects.toThrow(expected);
  });
});

test("a prompt that the server refuses leaves the conversation as it was", async () => {
  await using server = await startModelServer(["One.", { status: 400 }, "Two."]);
  const { exitCode, out } = await chatPiped(["--model-url", server.url], "a\nb\nc\n");
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "One.\nTwo.\n" });
  const sent = server.requests[2]?.body.messages.map(({ content }: { content: string }) => content);
  expect(sent).toEqual(["a", "One.", "c"]);
});

describe("commands", () => {
  test("list models, change the model, save, clear and exit", async () => {
    await using server = await startModelServer(["One.", "Two.", "Three."], { models: ["a", "b"] });
    using folder = folderWith();
    const lines = [
      "Hi",
      "/models",
      "/model b",
      "/model",
      "Again",
      "/save c.jsonl",
      "/clear",
      "New",
      "/exit",
      "no",
    ];
    const { exitCode, out, err } = await chatPiped(["--model-url", server.url], lines.join("\n"), {
      cwd: folder.path,
    });
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: "One.\nTwo.\nThree.\n" });
    expect(err).toContain("  a\n  b\n");
    expect(err).toContain(`The model is b at ${server.url}.\n`);
    expect(server.requests.map(({ body }) => [body.model, body.messages.length])).toEqual([
      ["a", 1],
      ["b", 3],
      ["b", 1],
    ]);
    const { messages, info } = await readSessionFile(join(folder.path, "c.jsonl"));
    expect(info).toMatchObject({ model: "b", endpoint: server.url });
    expect(messages.map(({ content }) => content)).toEqual(["Hi", "One.", "Again", "Two."]);
  });

  test("that do not exist or fail are reported, and nothing is sent", async () => {
    await using server = await startModelServer([]);
    using folder = folderWith({ "there.json": "old" });
    const lines = "/nope\n/toString\n/model missing\n/save\n/save there.json\n/save no/such/folder.json\n";
    const { exitCode, out, err } = await chatPiped(["--model-url", server.url], lines, { cwd: folder.path });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(err.split("\n")).toEqual([
      expect.stringContaining("There is no command /nope. /help lists"),
      expect.stringContaining("There is no command /toString."),
      expect.stringContaining("There is no model 'missing'"),
      "/save needs the name of a file: /save chat.jsonl",
      "there.json is there already, and was left as it is. Choose another name.",
      expect.stringContaining("no/such/folder.json could not be written: ENOENT"),
      "",
    ]);
    expect(readFileSync(join(folder.path, "there.json"), "utf8")).toBe("old");
  });

  test("are not confused with prompts that begin with a slash", async () => {
    await using server = await startModelServer("Ok.");
    await chatPiped(["--model-url", server.url], "/usr/bin is what?\n /help\n");
    expect(server.requests.map(({ body }) => body.messages.at(-1).content)).toEqual([
      "/usr/bin is what?",
      " /help",
    ]);
  });
});

test("Ctrl-C closes the connection and ends the command with 130", async () => {
  await using server = await startModelServer([{ text: "Half", stall: true }]);
  const io = testIo({ input: "one\ntwo\n" });
  const ended = runCli(["chat", "--model-url", server.url], io);
  await io.written;
  io.stop();
  expect(await ended).toBe(130);
  await server.requests[0]?.closed;
  expect(server.requests[0]?.wasLeft).toBe(true);
  expect(io.out).toBe("Half\n");
  expect(io.listenerCount).toBe(0);
});

test("RONDO_DEBUG shows where an error comes from", async () => {
  await using server = await startModelServer([{ status: 401 }]);
  const { err } = await chatPiped(["--model-url", server.url, "Hi"], "", { env: { RONDO_DEBUG: "1" } });
  expect(err).toContain("\n    at ");
});
