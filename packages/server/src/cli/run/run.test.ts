import { PassThrough } from "node:stream";
import { scriptedModel, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { startServer } from "../../http/server.ts";
import { runCli } from "../program.ts";
import { type TestIoOptions, testIo } from "../testkit/test-io.ts";

/** Where the files of the tests find the library. */
const [rondo, demo] = [import.meta.resolve("rondo"), import.meta.resolve("rondo/demo")];
const imports = `
import { Agent, Client, ContextItem, Turn, query, tool } from "${rondo}";
import { demoModel } from "${demo}";
const add = tool({ name: "add", description: "Add two numbers.", input: { a: Number, b: Number }, registry: false },
  async ({ a, b }) => a + b);
`;

function begin(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  options: TestIoOptions = {},
) {
  const folder = folderWith(files);
  onTestFinished(() => folder[Symbol.dispose]());
  const io = testIo({ cwd: folder.path, ...options });
  return { io, ended: runCli(["run", ...args], io) };
}

async function run(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  options?: TestIoOptions,
) {
  const { io, ended } = begin(files, args, options);
  const exitCode = await ended;
  expect(io.listenerCount).toBe(0);
  return { exitCode, out: io.out, err: io.err };
}

/** The lines of --json, each of which has to be an object. */
function events(out: string) {
  expect(out.endsWith("\n")).toBe(true);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string } & Record<string, unknown>);
}

const agentFile = `${imports}
const agent = new Agent({ name: "calculator", tools: [add], model: demoModel(), registry: false });
await agent.put(new Turn(add, { a: 1, b: 2 }));
export default agent;
`;

test("the turns of an agent run, each shown with its tool and value", async () => {
  const { exitCode, out, err } = await run({ "agent.ts": agentFile }, ["agent.ts"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "add: 3\n" });
  expect(err).toMatch(/^→ add {"a":1,"b":2}\n\d+\.\d s\n$/);
});

test("an agent with a model is asked the input after its queued turns", async () => {
  const { exitCode, out, err } = await run({ "agent.ts": agentFile }, [
    "agent.ts",
    "--input",
    "What is 25 + 17?",
  ]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "add: 3\n25 + 17 is 42.\n" });
  expect(err).toContain('→ add {"a":25,"b":17}\n← add 42\n');
  expect(err).toMatch(/\d+ tokens in, \d+ out · \d+\.\d s(?: · \d+ tokens\/s)?\n$/);
});

test("--json prints one object per event, and nothing that the file prints", async () => {
  const file = `${agentFile}console.log("printed", { by: "the file" });`;
  const args = ["agent.ts", "--json", "--input", "What is 25 + 17?"];
  const { exitCode, out, err } = await run({ "agent.ts": file }, args);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "printed { by: 'the file' }\n" });
  const all = events(out);
  const text = all.flatMap((event) => (event.type === "text.delta" ? [event["text"]] : [])).join("");
  expect(text).toBe("25 + 17 is 42.");
  const turn = all[1]?.["turn"];
  const id = all.find(({ type }) => type === "tool.started")?.["id"];
  expect(all.filter(({ type }) => !type.endsWith(".delta"))).toEqual([
    { type: "run.started", kind: "agent", file: "agent.ts" },
    { type: "turn.started", turn, tool: "add", input: { a: 1, b: 2 } },
    { type: "turn.value", turn, tool: "add", value: 3 },
    { type: "turn.finished", turn, tool: "add" },
    { type: "tool.started", id, name: "add", input: { a: 25, b: 17 } },
    { type: "tool.finished", id, name: "add", result: 42, isError: false },
    {
      type: "run.finished",
      reason: "completed",
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      elapsedMs: expect.any(Number),
    },
  ]);
});

test("turns and context that a tool returns are routed, and every turn is reported", async () => {
  const file = `${imports}
const twice = tool({ name: "twice", description: "Queue a turn.", input: { n: Number }, registry: false },
  async function* ({ n }) {
    yield new ContextItem({ content: "noted" });
    yield { n };
    yield new Turn(add, { a: n, b: n });
  });
const agent = new Agent({ name: "router", tools: [add, twice], registry: false });
await agent.put(new Turn(twice, { n: 4 }));
export default agent;
`;
  const { exitCode, out, err } = await run({ "agent.mjs": file }, ["agent.mjs"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'twice: {"n":4}\nadd: 8\n' });
  expect(err).toContain('→ twice {"n":4}\n→ add {"a":4,"b":4}\n');
});

test("a function gets the input, and its value is the output", async () => {
  const { exitCode, out } = await run(
    { "f.ts": 'export default async (input?: string) => "Hello, " + input;' },
    ["f.ts", "--input", "Ada"],
  );
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "Hello, Ada\n" });
});

test("texts of a generator are joined, and its other values are lines of their own", async () => {
  const file = `export default async function* (input) {
    yield "Once "; yield "upon"; yield { a: [1] }; yield 5n; return \`a \${input}\`; }`;
  const { out } = await run({ "f.js": file }, ["f.js"]);
  expect(out).toBe('Once upon\n{"a":[1]}\n5n\na undefined\n');
  const json = await run({ "f.js": file }, ["f.js", "--json"]);
  expect(events(json.out).slice(1, -1)).toEqual([
    { type: "text.delta", text: "Once " },
    { type: "text.delta", text: "upon" },
    { type: "run.value", value: { a: [1] } },
    { type: "run.value", value: "5n" },
    { type: "text.delta", text: "a undefined" },
  ]);
});

test.each([
  [
    "query()",
    "(prompt) => query({ prompt, options: { model: demoModel(), tools: [add], autoExecuteTools: true } })",
  ],
  [
    "an agent",
    `async (prompt) => {
      const agent = new Agent({ name: "made", tools: [add], model: demoModel(), registry: false });
      await agent.ask(prompt);
      return agent;
    }`,
  ],
  [
    "the run of an agent",
    `async function* (prompt, { signal }) {
      const agent = new Agent({ name: "made", tools: [add], model: demoModel(), registry: false });
      await agent.ask(prompt);
      yield* agent.run({ signal });
    }`,
  ],
])("a function may return %s: its text, calls and tokens are shown as such", async (_, source) => {
  const file = `${imports}\nexport default ${source};`;
  const { exitCode, out, err } = await run({ "f.ts": file }, ["f.ts", "--input", "What is 25 + 17?"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "25 + 17 is 42.\n" });
  expect(err).toContain('→ add {"a":25,"b":17}\n← add 42\n');
  expect(err).toMatch(/\d+ tokens in, \d+ out · \d+\.\d s(?: · \d+ tokens\/s)?\n$/);
});

test("a prompt in a text file is asked, with its placeholder filled and its front matter applied", async () => {
  await using server = await startModelServer({ text: "Short." });
  const files = {
    "sum.md": "---\nmodel: test-model\nsystem: Be brief.\n---\n\nSum up: {{ input }}\n",
    "in.txt": "$& a",
  };
  const args = ["sum.md", "--input-file", "in.txt", "--model-url", server.url];
  const { exitCode, out, err } = await run(files, args);
  expect({ exitCode, out, err }).toEqual({
    exitCode: 0,
    out: "Short.\n",
    err: expect.stringMatching(/^\S+ s\n$/),
  });
  const { body } = await server.request(0);
  expect(body).toMatchObject({
    model: "test-model",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Sum up: $& a" },
    ],
  });
});

test("a prompt without a placeholder gets the input below, also from standard input", async () => {
  await using server = await startModelServer({ text: "Fine." });
  const args = ["review.txt", "--input-file", "-", "--model-url", server.url];
  const { out } = await run({ "review.txt": "\uFEFFReview this:\n" }, args, { input: "diff\n" });
  expect(out).toBe("Fine.\n");
  expect((await server.request(0)).body).toMatchObject({
    messages: [{ role: "user", content: "Review this:\n\ndiff" }],
  });
});

test("a prompt may come from a module, with its own model and tools", async () => {
  const file = `${imports}
export default { prompt: "What is 25 + 17?", model: demoModel(), tools: [add] };`;
  const { exitCode, out, err } = await run({ "p.ts": file }, ["p.ts"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "25 + 17 is 42.\n" });
  expect(err).toContain("← add 42\n");
  const flags = await run({ "p.ts": file }, [
    "p.ts",
    "--model-url",
    "http://127.0.0.1:9/v1",
    "--model",
    "other",
  ]);
  expect(flags).toMatchObject({ exitCode: 1, err: expect.stringContaining("No model server answers at") });
});

test("tool files in a prompt's front matter are relative to it", async () => {
  const files = {
    "sub/tools.ts": `${imports}export { add };`,
    "sub/p.md": "---\ntools: tools.ts\n---\nWhat is 2 + 3?",
  };
  const { exitCode, out, err } = await run(files, ["sub/p.md", "--model", "demo"]);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: "2 + 3 is 5.\n" });
  expect(err).toContain("← add 5\n");
});

test("a prompt is asked of a Rondo server", async () => {
  const model = scriptedModel([
    { text: "From the server.", usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 } },
  ]);
  const server = await startServer(
    resolveConfig({ port: 0, store: "memory", models: { model }, log: { level: "silent" }, shutdownMs: 0 }),
  );
  onTestFinished(() => server.close());
  const env = { RONDO_SERVER: server.url };
  const { out } = await run({ "p.txt": "Hi" }, ["p.txt", "--json"], { env });
  const all = events(out);
  expect(all.map(({ type }) => type)).toEqual(["run.started", "text.delta", "run.finished"]);
  expect(all.at(-1)).toMatchObject({ reason: "completed", usage: { inputTokens: 3, outputTokens: 4 } });
  model.assertUsedUp();
});

test("a truncated answer exits with 1", async () => {
  await using server = await startModelServer({ text: "Once upon", finishReason: "length" });
  const args = ["p.txt", "--model-url", server.url];
  const { exitCode, out, err } = await run({ "p.txt": "Hi" }, args);
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "Once upon\n" });
  expect(err).toMatch(/^cut off: /);
});

test("a failed run reports the reason, and exits with 1", async () => {
  const file = "export default async function* () { yield 'So far'; throw new Error('No more.'); }";
  const plain = await run({ "f.js": file }, ["f.js"]);
  expect(plain).toEqual({ exitCode: 1, out: "So far\n", err: "rondo: No more.\n" });
  const json = await run({ "f.js": file }, ["f.js", "--json"]);
  expect([json.exitCode, json.err]).toEqual([1, "rondo: No more.\n"]);
  expect(events(json.out).at(-1)).toEqual({
    type: "run.failed",
    message: "No more.",
    elapsedMs: expect.any(Number),
  });
});

/** Writes down what becomes of it, in a place that the test can see. */
const log = (globalThis as { runTestLog?: string[] }).runTestLog ?? [];
(globalThis as { runTestLog?: string[] }).runTestLog = log;

test.each([
  [
    "an agent",
    `${imports}
const wait = tool({ name: "wait", description: "Wait.", input: {}, registry: false }, async function* (_, { signal }) {
  yield "begun";
  try { await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))); }
  finally { await null; globalThis.runTestLog.push("cleaned up"); }
});
const agent = new Agent({ name: "waiting", tools: [wait], registry: false });
await agent.put(new Turn(wait, {}));
export default agent;`,
  ],
  [
    "a function that heeds its signal",
    `export default async function* (_, { signal }) {
  yield "begun";
  try { await new Promise((resolve) => signal.addEventListener("abort", resolve)); }
  finally { await null; globalThis.runTestLog.push("cleaned up"); }
}`,
  ],
])("Ctrl-C stops %s, awaits its cleanup, and exits with 130", async (_, file) => {
  log.length = 0;
  const { io, ended } = begin({ "f.ts": file }, ["f.ts", "--json"]);
  await vi.waitFor(() => expect(io.out).toContain("begun"), { timeout: 4000, interval: 5 });
  io.stop();
  expect(await ended).toBe(130);
  expect(log).toEqual(["cleaned up"]);
  expect(events(io.out).at(-1)).toMatchObject({ type: "run.finished", reason: "interrupted" });
  expect([io.listenerCount, io.exitCodes]).toEqual([0, []]);
});

test("Ctrl-C stops the answer to a prompt", async () => {
  await using server = await startModelServer({ text: ["Once upon", new Promise(() => {})] });
  const { io, ended } = begin({ "p.txt": "Hi" }, ["p.txt", "--model-url", server.url]);
  await io.written;
  io.stop();
  expect(await ended).toBe(130);
  expect(io.out).toBe("Once upon\n");
  expect(io.err).toMatch(/^interrupted · /);
});

test("Ctrl-C ends the wait for standard input", async () => {
  const { io, ended } = begin({ "p.txt": "Hi" }, ["p.txt", "--input-file", "-"], {
    input: new PassThrough(),
  });
  await vi.waitFor(() => expect(io.listenerCount).toBe(1));
  io.stop();
  expect(await ended).toBe(130);
});

test("a second Ctrl-C ends a run that does not stop", async () => {
  const { io } = begin(
    { "f.js": "export default async function* () { yield 'begun'; await new Promise(() => {}); }" },
    ["f.js"],
  );
  await io.written;
  io.stop();
  expect(io.exitCodes).toEqual([]);
  io.stop();
  expect(io.exitCodes).toEqual([130]);
});

test.each([
  ["a missing file", {}, ["gone.ts"], "There is no file gone.ts"],
  ["another kind of file", { "a.png": "" }, ["a.png"], "Expected a program (.ts"],
  [
    "a module without a default export",
    { "a.js": "export const a = 1;" },
    ["a.js"],
    "got nothing. Write `export",
  ],
  ["an export that cannot run", { "a.js": "export default 5;" }, ["a.js"], "got a value of type number"],
  ["an empty prompt", { "a.md": "---\nmodel: x\n---\n\n" }, ["a.md"], "has to be text, and not empty"],
  [
    "an unknown key",
    { "a.md": "---\nmodle: x\n---\nHi" },
    ["a.md"],
    "a.md has 'modle', which a prompt does not know",
  ],
  ["broken front matter", { "a.md": "---\nmodel: x\n  system: [\n---\nHi" }, ["a.md"], "a.md line 3"],
  ["a placeholder without an input", { "a.md": "About {{input}}" }, ["a.md"], "Pass one with --input"],
  [
    "a missing input file",
    { "a.md": "Hi" },
    ["a.md", "--input-file", "b"],
    "b could not be read: there is none",
  ],
  ["two inputs", { "a.md": "Hi" }, ["a.md", "--input", "a", "--input-file", "b"], "cannot both be given"],
  [
    "a model for a function",
    { "a.js": "export default () => 1" },
    ["a.js", "--model", "m"],
    "--model is for prompts",
  ],
  [
    "an agent without work",
    { "a.ts": `${imports}export default new Agent({ name: "idle", tools: [], registry: false });` },
    ["a.ts"],
    "has nothing to do. Queue a turn",
  ],
  [
    "a question to an agent without a model",
    { "a.ts": `${imports}export default new Agent({ name: "idle", tools: [], registry: false });` },
    ["a.ts", "--input", "Hi"],
    "has no model, so it cannot be asked",
  ],
])("%s is a usage error with exit code 2", async (_, files, args, said) => {
  const { exitCode, out, err } = await run(files, args);
  expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
  expect(err).toContain(said);
  expect(err).not.toContain("    at ");
});

test("on a terminal thinking is dim, and standard output has only the answer", async () => {
  await using server = await startModelServer({ thinking: "Hm.", text: "Yes.\u001b[2J" });
  const options = { output: { isTTY: true, columns: 60 }, isErrorTerminal: true };
  const { out, err } = await run({ "p.txt": "Hi" }, ["p.txt", "--model-url", server.url], options);
  expect(out.trim()).toBe("Yes.[2J");
  expect(err).toContain("\u001b[2mHm.");
  const env = { NO_COLOR: "1" };
  const plain = await run({ "p.txt": "Hi" }, ["p.txt", "--model-url", server.url], {
    ...options,
    env,
  });
  expect(plain.err).toContain("thinking: Hm.\n");
});

test("the help has examples", async () => {
  const { exitCode, out } = await run({}, ["--help"]);
  expect(exitCode).toBe(0);
  expect(out).toContain('rondo run agent.ts --input "What is 25 + 17?"');
});
