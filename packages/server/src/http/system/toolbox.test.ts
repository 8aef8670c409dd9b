import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as tick } from "node:timers/promises";
import { tool } from "rondo";
import { demoModel } from "rondo/demo";
import { describe, expect, test, vi } from "vitest";
import type { ConfigInput } from "../../config/schema.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { startNotebook } from "../../executor/mcp/testkit/notebook-server.ts";
import type { SandboxSettings } from "../../executor/sandbox/sandbox-host.ts";
import { createLogger } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { deadUrl, eventually, start, twoOwners } from "./testkit/start.ts";
import { Toolbox } from "./toolbox.ts";

interface ToolServers {
  readonly servers: readonly { readonly state: string }[];
}

let added = 0;
const add = tool(
  { name: "add", description: "Adds.", input: { a: Number, b: Number }, fixed: { b: 1 }, registry: false },
  async ({ a, b }) => {
    added += 1;
    return a + b;
  },
);
const models = { demo: demoModel() };

describe("GET /v1/tools", () => {
  test("lists local tools and those of MCP servers, with the state of each server", async () => {
    const notebook = await startNotebook();
    const dead = await deadUrl();
    const { get } = await start({
      models,
      tools: [add],
      mcp: {
        servers: {
          notes: { url: notebook.url, requireApproval: ["pay"], offer: "named" },
          gone: { url: dead },
        },
      },
    });
    const isSettled = ({ servers }: ToolServers) => servers.every(({ state }) => state !== "connecting");
    const body = await eventually(get, "/v1/tools", isSettled);
    expect(body.data.map((it: { name: string }) => it.name)).toEqual(["add", "look", "pay", "fail", "wait"]);
    expect(body.data).toMatchObject([
      {
        kind: "local",
        server_label: "local",
        description: "Adds.",
        input_schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        requires_approval: false,
        is_offered: true,
      },
      { kind: "mcp", server_label: "notes", requires_approval: false, input_schema: { required: ["n"] } },
      { name: "pay", requires_approval: true, is_offered: false },
      {},
      {},
    ]);
    expect(Object.keys(body.data[0].input_schema.properties)).toEqual(["a"]);
    expect(body.servers).toEqual([
      { label: "notes", state: "connected", error: null, tools: 4 },
      { label: "gone", state: "failed", error: expect.stringContaining("'gone' did not start"), tools: 0 },
    ]);
  });

  test("a server that hangs is connecting, and with keys nobody sees an address", async () => {
    const hung = await startNotebook({ intercept: () => new Response(new ReadableStream()) });
    const { keys, auth } = twoOwners();
    const servers = { slow: { url: hung.url }, gone: { url: await deadUrl() } };
    const { get } = await start({ models, auth, mcp: { servers } });
    const isGone = ({ servers }: ToolServers) => servers[1]?.state === "failed";
    const body = await eventually(get, "/v1/tools", isGone, keys.ann);
    expect(body.servers).toEqual([
      { label: "slow", state: "connecting", error: null, tools: 0 },
      { label: "gone", state: "failed", error: "It cannot be reached. The server's log says why.", tools: 0 },
    ]);
    expect(JSON.stringify(body)).not.toContain("127.0.0.1");
  });

  test("has the tools of a sandbox for those who may use it", async () => {
    const { keys, auth } = twoOwners();
    const { get } = await start({ models, auth, sandbox: { kind: "bwrap", owners: ["key:ann"] } });
    const namesFor = async (key: string) =>
      (await get("/v1/tools", key)).body.data.map(
        ({ name, kind }: Record<string, string>) => `${kind} ${name}`,
      );
    expect(await namesFor(keys.ann)).toEqual(["sandbox code_interpreter", "sandbox shell"]);
    expect(await namesFor(keys.bob)).toEqual([]);
  });
});

describe("POST /v1/tools/call", () => {
  const { signal: never } = new AbortController();
  const call = async (config: ConfigInput, body: unknown, signal = never) => {
    const { post } = await start({ models, ...config });
    return post("/v1/tools/call", body, undefined, signal);
  };

  test("runs a local tool as a turn, whose fixed arguments stay", async () => {
    const { body } = await call({ tools: [add] }, { name: "add", arguments: { a: 41, b: 1000 } });
    expect(body).toEqual({
      object: "tool.call",
      is_error: false,
      output: "42",
      is_cut: false,
      duration_ms: expect.any(Number),
    });
  });

  test("runs a tool of an MCP server, also one that a request would have to ask for", async () => {
    const notebook = await startNotebook();
    const { post } = await start({
      models,
      mcp: { servers: { notes: { url: notebook.url, requireApproval: "always" } } },
    });
    const named = { name: "pay", server_label: "notes", arguments: { n: 1 } };
    expect((await post("/v1/tools/call", named)).body).toMatchObject({
      is_error: false,
      output: "pay 1 done",
    });
    const { server_label: _, ...unnamed } = named;
    expect((await post("/v1/tools/call", unnamed)).body).toMatchObject({ output: "pay 1 done" });
    const failing = { ...named, name: "fail" };
    expect((await post("/v1/tools/call", failing)).body).toMatchObject({ is_error: true, output: "No 1." });
    expect(notebook.calls).toEqual(['pay({"n":1})', 'pay({"n":1})', 'fail({"n":1})']);
  });

  test("a name that several servers have needs a label", async () => {
    const notebook = await startNotebook();
    const { get, post } = await start({
      models,
      mcp: { servers: { one: { url: notebook.url }, two: { url: notebook.url } } },
    });
    await eventually(get, "/v1/tools", ({ data }) => data.length === 8);
    expect(await post("/v1/tools/call", { name: "look", arguments: { n: 1 } })).toMatchObject({
      status: 400,
      body: { error: { param: "server_label", message: expect.stringContaining("one, two") } },
    });
    expect(notebook.calls).toEqual([]);
  });

  test.each([
    ["no body", "", "invalid_json"],
    ["no name", {}, "invalid_request"],
    ["arguments that are a list", { name: "add", arguments: [1] }, "invalid_request"],
    ["arguments of another type", { name: "add", arguments: { a: "x" } }, "invalid_arguments"],
    ["missing arguments", { name: "add" }, "invalid_arguments"],
    ["an own __proto__", '{"name":"add","arguments":{"__proto__":{"a":1}}}', "invalid_arguments"],
    [
      "arguments deeper than any stack",
      `{"name":"add","arguments":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`,
      "invalid_request",
    ],
  ])("refuses %s, and runs nothing", async (_, body, code) => {
    const before = added;
    const { status, body: reply } = await call({ tools: [add] }, body);
    expect(status).toBe(400);
    expect(reply.error.code).toMatch(code);
    expect(added).toBe(before);
  });

  test.each([
    ["an unknown tool", { name: "nothing" }],
    ["an unknown server", { name: "add", server_label: "elsewhere" }],
    ["a tool of the sandbox", { name: "code_interpreter", arguments: { code: "1" } }],
  ])("answers 404 to %s", async (_, body) => {
    const config: ConfigInput = { tools: [add], sandbox: { kind: "bwrap" } };
    expect(await call(config, body)).toMatchObject({
      status: 404,
      body: { error: { code: "tool_not_found" } },
    });
  });

  test("a tool that throws, returns undefined, or streams has a result", async () => {
    const tools = [
      tool({ name: "throws", description: "", registry: false }, async () => {
        throw new Error("It broke with api_key=12345678.");
      }),
      tool({ name: "nothing", description: "", registry: false }, async () => undefined),
      tool({ name: "counts", description: "", registry: false }, async function* () {
        yield 1;
        yield 2;
      }),
    ];
    const { post } = await start({ models, tools });
    const outputOf = async (name: string) => (await post("/v1/tools/call", { name })).body;
    expect(await outputOf("throws")).toMatchObject({
      is_error: true,
      output: "It broke with api_key=[redacted]",
    });
    expect(await outputOf("nothing")).toMatchObject({ is_error: false, output: "null" });
    expect(await outputOf("counts")).toMatchObject({ is_error: false, output: "[1,2]" });
  });

  test("arguments of a million objects are refused before they cost anything", async () => {
    const one = `[${Array(1000).fill("[{}]").join()}]`;
    const body = (lists: number) =>
      `{"name":"add","arguments":{"a":1,"c":[${Array(lists).fill(one).join()}]}}`;
    const { post } = await start({ models, tools: [add] });
    expect(await post("/v1/tools/call", body(49))).toMatchObject({ status: 200, body: { output: "2" } });
    expect(await post("/v1/tools/call", body(500))).toMatchObject({
      status: 400,
      body: { error: { param: "arguments", message: expect.stringContaining("100000 lists and objects") } },
    });
  });

  test("a tool that hangs ends with its time limit", async () => {
    let aborted = 0;
    const hangs = tool(
      { name: "hangs", description: "", timeoutMs: 50, registry: false },
      async (_, { signal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted += 1;
            reject(signal.reason as Error);
          });
        }),
    );
    const { post } = await start({ models, tools: [hangs] });
    expect((await post("/v1/tools/call", { name: "hangs" })).body).toMatchObject({
      is_error: true,
      output: expect.stringContaining("50 ms"),
    });
    expect(aborted).toBe(1);
  });

  test("a result of 100 MB is cut, with a note", async () => {
    const big = tool({ name: "big", description: "", registry: false }, async () => "é".repeat(50_000_000));
    const { body } = await call({ tools: [big] }, { name: "big" });
    expect(body).toMatchObject({ is_error: false, is_cut: true });
    expect(Buffer.byteLength(body.output)).toBeLessThan(1_000_100);
    expect(body.output.slice(-60)).toMatch(/é\n\[Cut: the first 1000000 of 100000000 bytes\.\]$/);
  });

  test("a client that leaves aborts the call", async () => {
    const notebook = await startNotebook();
    const leaving = new AbortController();
    const { post } = await start({ models, mcp: { servers: { notes: { url: notebook.url } } } });
    const arrival = notebook.arrival("wait");
    const body = { name: "wait", server_label: "notes", arguments: { n: 1 } };
    const called = post("/v1/tools/call", body, undefined, leaving.signal);
    await arrival;
    leaving.abort();
    await expect(called).rejects.toThrow("aborted");
    await expect.poll(() => notebook.aborted).toEqual(["wait"]);
  });

  test("a server that is away is a 502, without its address for owners with keys", async () => {
    const { keys, auth } = twoOwners();
    const servers = { gone: { url: await deadUrl() } };
    const { post } = await start({ models, auth, mcp: { servers } });
    const body = { name: "look", server_label: "gone", arguments: { n: 1 } };
    expect(await post("/v1/tools/call", body)).toMatchObject({ status: 401 });
    const reply = await post("/v1/tools/call", body, keys.bob);
    expect(reply).toMatchObject({ status: 502, body: { error: { code: "mcp_server_unavailable" } } });
    expect(JSON.stringify(reply.body)).not.toContain("127.0.0.1");
  });
});

describe("the audit log of a call by hand", () => {
  const { signal } = new AbortController();
  const who = { owner: "key:ann", requestId: "req_1" };

  /** A toolbox whose log is written when `settled` says so. */
  const audited = (settled: (actions: readonly string[]) => Promise<void> | undefined) => {
    const actions: string[] = [];
    const toolbox = new Toolbox({
      tools: [add],
      offerTools: "always",
      mcp: { configured: [] },
      sandbox: { known: undefined, allows: () => false, settings: {} as SandboxSettings },
      hasAuth: true,
      logger: createLogger({ level: "silent" }),
      metrics: new Metrics(),
      audit: {
        record: ({ action, outcome }) => actions.push(`${action} ${outcome ?? ""}`.trim()),
        settled: () => settled(actions),
      },
    });
    return { actions, call: () => toolbox.call(who, { name: "add", arguments: { a: 1 } }, signal) };
  };

  test("the result is shown when the log has it", async () => {
    const written = Promise.withResolvers<void>();
    const { actions, call } = audited((so) => (so.length > 1 ? written.promise : undefined));
    const called = call();
    await vi.waitUntil(() => actions.length === 2);
    expect(await Promise.race([called, tick("not shown yet")])).toBe("not shown yet");
    written.resolve();
    expect(await called).toMatchObject({ output: "2" });
    expect(actions).toEqual(["call.started", "call.ended ok"]);
  });

  test("a call that must not begin has an end", async () => {
    const { actions, call } = audited(() => Promise.reject(new Error("disk full")));
    const before = added;
    await expect(call()).rejects.toThrow("disk full");
    expect(actions).toEqual(["call.started", "call.ended aborted"]);
    expect(added).toBe(before);
  });
});

test("a call by hand is in the audit log before it runs, and with its outcome", async () => {
  using folder = folderWith();
  const path = join(folder.path, "audit.jsonl");
  const read = () => readFileSync(path, "utf8");
  let seenWhileRunning = "";
  const looks = tool({ name: "looks", description: "", registry: false }, async () => {
    seenWhileRunning = read();
    return "secret result";
  });
  const { post } = await start({ models, tools: [looks], audit: path });
  await post("/v1/tools/call", { name: "looks", arguments: {} });
  expect(seenWhileRunning).toContain('"call.started"');
  await vi.waitUntil(() => read().includes('"call.ended"'), { timeout: 10_000 });
  const lines = read()
    .split("\n")
    .filter((line) => line.includes('"action":"call.'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const call = { owner: "local", tool: { host: "local", label: "local", name: "looks" } };
  expect(lines).toMatchObject([
    { action: "call.started", ...call, arguments_bytes: 2 },
    { action: "call.ended", ...call, outcome: "ok", result_bytes: 13 },
  ]);
  expect(lines[1]?.["started"]).toBe(lines[0]?.["n"]);
  expect(read()).not.toContain("secret");
});
