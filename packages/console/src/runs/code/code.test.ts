// Copied code has to work: it is written to files and run, also with texts that try to break out of it.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runInThisContext } from "node:vm";
import { startServer } from "@rondo/server";
import fc from "fast-check";
import { tool } from "rondo";
import { scriptedModel, startModelServer } from "rondo/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNotebook } from "../../../../server/src/executor/mcp/testkit/notebook-server.ts";
import type { Item, ResponseObject } from "../../api/response.ts";
import type { Trace } from "../trace/events.ts";
import { readRounds } from "../trace/rounds.ts";
import { toCurl } from "./curl.ts";
import { toLibraryCode } from "./library-code.ts";
import { answersOf, openNames, type RunRecord } from "./record.ts";
import { requestBody } from "./request-body.ts";
import { toScriptedTest } from "./scripted-test.ts";
import { toComment, toSource } from "./source.ts";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../../../../.cache/", import.meta.url));
let folder = "";
beforeAll(() => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "code-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hostile =
  'It\'s "quoted" `ticks` $' +
  "{process.exit(7)} $(exit 7) \\ \\n \n</script><!-- \u2028\u2029 */ // JSON\nJSON\nEOF\r\n'; exit 7 #\u0000\u007f 🦊\ud800";

const node = (...args: string[]) =>
  run(process.execPath, ["--conditions=rondo-source", "--no-warnings", ...args], { cwd: folder });

/** A run as the console knows it. */
async function recordOf(url: string, id: string): Promise<RunRecord> {
  const get = async (path: string) => (await fetch(`${url}/v1/responses/${path}`)).json() as Promise<unknown>;
  const response = (await get(id)) as ResponseObject;
  const { data } = (await get(`${id}/input_items?order=asc&limit=100`)) as { data: Item[] };
  const trace = (await get(`${id}/trace`)) as Partial<Trace>;
  const before = response.previous_response_id;
  const earlier = before === null ? undefined : await recordOf(url, before);
  return {
    title: hostile,
    response,
    input: data,
    earlier: earlier ? [...earlier.earlier, ...earlier.input, ...earlier.response.output] : [],
    rounds: readRounds(trace.events ?? []),
  };
}

const create = async (url: string, body: object) => {
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const response = (await reply.json()) as ResponseObject & { error: { message: string } | null };
  if (!response.id && reply.ok) throw new Error(JSON.stringify(response));
  return response;
};

const shout = tool(
  {
    name: "shout",
    description: hostile,
    input: { type: "object", properties: { text: { type: "string" } } },
    registry: false,
  },
  async ({ text }) => {
    if (text === "fail") throw new Error(hostile);
    return `${String(text)}!`;
  },
);

const calls = (...texts: string[]) => texts.map((text) => ({ name: "shout", input: { text } }));
const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } };

describe("copied code", () => {
  test("repeats a run: as curl, with the library and as a test", async () => {
    const notebook = await startNotebook();
    const model = scriptedModel([
      { thinking: hostile, text: hostile, calls: calls(hostile, "fail") },
      { calls: [{ name: "no_such_tool", input: { __proto__: 1, a: hostile } }, ...calls("again")] },
      { text: `Done: ${hostile}` },
      "A second answer.",
      { calls: [...calls("first"), { name: "weather", input: {} }] },
      { text: "One more", calls: calls("limited") },
      { calls: [{ name: "pay", input: { n: 7 } }] },
      `As curl: ${hostile}`,
    ]);
    await using server = await startServer({
      port: 0,
      store: "memory",
      log: { level: "silent" },
      models: { demo: model },
      tools: [shout],
      mcp: { servers: { notes: { url: notebook.url, requireApproval: ["pay"], offer: "named" } } },
    });
    const { url } = server;
    const asked = { model: "demo", instructions: hostile, metadata: { source: hostile.slice(0, 20).trim() } };
    const first = await create(url, { ...asked, input: hostile });
    expect(first.status).toBe("completed");
    const second = await create(url, {
      ...asked,
      input: [user(hostile), user("More?")],
      previous_response_id: first.id,
    });
    const third = await create(url, { model: "demo", input: "Weather?", tools: [weather] });
    const limited = await create(url, { model: "demo", input: "Go on.", max_tool_calls: 0 });
    expect(limited.status).toBe("incomplete");
    const asking = await create(url, {
      model: "demo",
      input: "Pay.",
      tools: [{ type: "mcp", server_label: "notes" }],
    });
    expect(asking.output.at(-1)).toMatchObject({ type: "mcp_approval_request" });
    const all = [first, second, third, limited, asking];
    const records = await Promise.all(all.map(({ id }) => recordOf(url, id)));

    // As tests: all in one process, with one of a run that failed.
    const files = [...records, failedRecord].map((record, index) => {
      const file = join(folder, `run-${index}.test.mjs`);
      writeFileSync(file, toScriptedTest(record));
      return file;
    });
    const { stdout } = await node("--test", "--test-isolation=none", "--test-reporter=tap", ...files);
    expect(stdout).toContain("# pass 6");
    expect(stdout).toContain("# fail 0");

    // As curl: the model gets the same once more.
    const [record] = records;
    if (!record) throw new Error("There is no record.");
    const curl = toCurl(record, { origin: url, needsKey: true });
    const { stdout: reply } = await run("sh", ["-c", curl], { env: { ...process.env, RONDO_API_KEY: "k" } });
    expect((JSON.parse(reply) as ResponseObject).output).toMatchObject([
      { content: [{ text: `As curl: ${hostile}` }] },
    ]);
    const { messages } = model.requests.at(-1) ?? {};
    expect(messages).toEqual(model.requests[0]?.messages);

    // With the library, against a model server.
    await using models = await startModelServer([
      { calls: calls("x") },
      { text: `From the server: ${hostile.toWellFormed()}` },
    ]);
    const endpoint = { answer: 0, attempts: 1, calls: [], endpoint: models.url, model: "some-model" };
    const program = join(folder, "run.mjs");
    const [, followUp] = records;
    if (!followUp) throw new Error("There is no record.");
    writeFileSync(
      program,
      toLibraryCode({
        ...record,
        rounds: [{ ...endpoint, calls: record.rounds.flatMap(({ calls: made }) => made) }],
        earlier: followUp.earlier,
      }),
    );
    const { stdout: said } = await node(program);
    expect(said).toContain(`From the server: ${hostile.toWellFormed()}`);
    const [request] = models.requests;
    const sent = JSON.stringify(request?.body.messages);
    expect(sent).toContain(JSON.stringify(hostile));
    expect(request?.body.tools).toMatchObject([{ function: { name: "shout" } }]);
  });
});

describe("a copied test", () => {
  const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const valid = { name: "add", input: { a: 1, b: 2 } };
  const invalid = { name: "add", input: { a: "zz" } };
  const unknown = { name: "no_such_tool", input: {} };
  const serverTools = [{ name: "add", description: "Add.", input_schema: add.metadata.inputSchema }];

  async function passes(record: RunRecord): Promise<void> {
    const file = join(folder, "copied.test.mjs");
    writeFileSync(file, toScriptedTest(record));
    const { stdout } = await node("--test", "--test-isolation=none", "--test-reporter=tap", file);
    expect(stdout).toContain("# pass 1");
  }

  /** Runs the script on a server, and then the test that is made of the run. */
  async function repeat(script: Parameters<typeof scriptedModel>[0], body: object = {}): Promise<RunRecord> {
    await using server = await startServer({
      port: 0,
      store: "memory",
      log: { level: "silent" },
      models: { demo: scriptedModel(script) },
      tools: [add],
    });
    const { id } = await create(server.url, { model: "demo", input: "Add.", ...body });
    const record = { ...(await recordOf(server.url, id)), serverTools };
    await passes(record);
    return record;
  }

  test.each([
    ["invalid arguments", invalid],
    ["an unknown name", unknown],
    ["no name of a tool", { name: "no such tool", input: {} }],
  ])("passes where the only call had %s", async (_, call) => {
    const record = await repeat([{ calls: [call] }, "Sorry."]);
    expect(toLibraryCode(record)).toContain('tool("add", "Add.", ');
    expect(toLibraryCode(record)).toContain("autoExecuteTools: true");
    await passes({ ...record, serverTools: [] });
  });

  test("does not expect rejected calls to be open", async () => {
    const cut = await repeat([{ calls: [invalid] }], { max_agentic_turns: 1 });
    expect(openNames(cut)).toEqual([]);
    const mixed = [{ calls: [valid] }, { calls: [invalid, { name: "weather", input: {} }] }];
    expect(openNames(await repeat(mixed, { tools: [weather] }))).toEqual(["weather"]);
  });

  const empty = { text: "" };
  const cutOff = { text: "", finishReason: "length" } as const;
  test.each([
    ["the only answer", [empty]],
    ["the answer to a result", [{ calls: [valid] }, empty]],
    ["the answer to a rejection", [{ calls: [invalid] }, empty]],
    ["a truncated answer", [cutOff]],
    ["a truncated answer to a result", [{ calls: [valid] }, cutOff]],
  ])("passes where %s is empty", async (_, answers) => {
    const record = await repeat(answers);
    expect(answersOf(record)).toEqual(answers);
    expect(toScriptedTest(record)).toContain('assert.equal(client.result?.text, "");');
    // Without a trace too.
    expect(answersOf({ ...record, rounds: [] })).toEqual(answers);
  });
});

const failedRecord = {
  title: "",
  response: {
    model: "m",
    instructions: null,
    output: [],
    tools: [],
    error: { code: "model_server", message: hostile.toWellFormed() },
  } as unknown as ResponseObject,
  input: [user("Hi")],
  earlier: [],
  rounds: [],
};

function user(text: string) {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

const anyText = fc
  .array(fc.constantFrom(...hostile.split(""), "*", "</"), { maxLength: 12 })
  .map((characters) => characters.join(""));

describe("values as source", () => {
  test("are the same values again", () => {
    const values: unknown[] = [
      JSON.parse('{ "__proto__": { "a": 1 }, "constructor": [[], {}], "a-b": "\\u2028" }'),
      { [hostile]: [hostile, -1.5, 1e21, null, true] },
      ...fc.sample(fc.dictionary(anyText, anyText), 100),
    ];
    const again: unknown = runInThisContext(`(${toSource(values)})`);
    expect(JSON.stringify(again)).toBe(JSON.stringify(values));
  });

  test("in a comment stay in its line", () => {
    const comments = fc.sample(anyText, 200).map((text) => `// ${toComment(text)}\n`);
    expect(runInThisContext(`${comments.join("")}1`)).toBe(1);
    expect(toComment(hostile)).not.toMatch(/[\n\r\u2028\u2029]/);
  });
});

test("code has an end where a model nested its arguments without one", () => {
  const text = "[".repeat(4_000) + "]".repeat(4_000);
  const call = {
    type: "mcp_call",
    id: "mcp_1",
    name: "shout",
    arguments: text,
    output: "",
    status: "completed",
  };
  const response = { output: [call], tools: [], model: "m", instructions: null, metadata: {}, error: null };
  const events = [
    { n: 0, at: 0, type: "model.asked", answer: 0 },
    { n: 1, at: 1, type: "model.finished", answer: 0 },
  ];
  const record = { title: "", response, input: [], earlier: [], rounds: readRounds(events) };
  expect(toScriptedTest(record as unknown as RunRecord)).toContain(JSON.stringify(text));
});

test("a request keeps the ids that the server reads, and no others", () => {
  const response = { model: "m", instructions: null, tools: [], metadata: {} } as unknown as ResponseObject;
  const kept = [
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "notes", name: "pay", arguments: "{}" },
    { type: "item_reference", id: "msg_2" },
    { type: "local_shell_call_output", id: "call_3", output: "" },
  ];
  const input = [{ ...user("Pay."), id: "msg_1", status: "completed" }, ...kept];
  expect(requestBody({ ...response, previous_response_id: null }, input)).toMatchObject({
    input: [user("Pay."), ...kept],
  });
  expect(JSON.stringify(requestBody(response, input))).not.toContain("msg_1");
});
