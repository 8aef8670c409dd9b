// Schemas and JSON that would block or break a server that believed in them: each request gets a clear answer, and
// the server goes on.

import { type ServerStep, startModelServer } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { createLogger } from "./log.ts";
import { type RunningServer, startServer } from "./server.ts";

vi.setConfig({ testTimeout: 30_000 });

function start(modelUrl: string): Promise<RunningServer> {
  const config = resolveConfig({ store: "memory", port: 0, endpoints: [{ url: modelUrl }] });
  return startServer(config, { logger: createLogger({ level: "silent" }) });
}

function send(server: RunningServer, path: string, body: string): Promise<Response> {
  return fetch(server.url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
}

const post = (server: RunningServer, body: object) =>
  send(server, "/v1/responses", JSON.stringify({ model: "test-model", input: "Go", ...body }));

const isHealthy = async (server: RunningServer) => (await fetch(`${server.url}/healthz`)).ok;

const fn = (parameters: object) => ({ type: "function", name: "run", parameters });
const withProperty = (schema: object) => fn({ type: "object", properties: { a: schema } });
const call = (a: string) => ({ calls: [{ name: "run", input: { a } }] });

/** Definitions that each refer to the next one twice. */
function doubling(levels: number): object {
  const $defs: Record<string, object> = { [`d${levels}`]: {} };
  for (let level = 0; level < levels; level++) {
    const $ref = `#/$defs/d${level + 1}`;
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
}

describe("a call whose check would never end", () => {
  test.each([
    ["a pattern that backtracks", withProperty({ type: "string", pattern: "^(a+)+$" })],
    ["references that double", fn(doubling(60))],
  ])("is refused in the background too, while the server goes on: %s", async (_, tool) => {
    await using model = await startModelServer([call(`${"a".repeat(40)}!`), "I give up."]);
    await using server = await start(model.url);
    const made = await post(server, { tools: [tool], background: true });
    const { id } = (await made.json()) as ResponseObject;
    const get = async () =>
      (await (await fetch(`${server.url}/v1/responses/${id}`)).json()) as ResponseObject;
    await vi.waitUntil(async () => (await isHealthy(server)) && (await get()).status === "completed", {
      timeout: 20_000,
    });
    // The model was told why, and the client was not asked to run it.
    const { output } = await get();
    expect(output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
    expect(output[1]).toMatchObject({ content: [{ text: "I give up." }] });
    expect(JSON.stringify(model.requests[1])).toMatch(/does not match the pattern|takes too many steps/);
  });

  test("passes where the value fits", async () => {
    await using model = await startModelServer([call("a".repeat(40))]);
    await using server = await start(model.url);
    const made = await post(server, { tools: [withProperty({ pattern: "^(a+)+$" })] });
    expect(await made.json()).toMatchObject({ output: [{ type: "function_call", name: "run" }] });
  });
});

describe("a schema that cannot be used is a 400", () => {
  const large = { description: "x".repeat(300_000) };
  test.each<[string, object, string, string]>([
    ["in circles", { tools: [fn({ $ref: "#" })] }, "tools[0]", "leads back to itself"],
    [
      "in circles, in the background",
      { tools: [fn({ $ref: "#" })], background: true },
      "tools[0]",
      "leads back",
    ],
    ["with a backreference", { tools: [withProperty({ pattern: "(a)\\1" })] }, "tools[0]", "Backreferences"],
    [
      "with a huge pattern",
      { tools: [withProperty({ pattern: "(((ab){99}){99}){99}" })] },
      "tools[0]",
      "too large",
    ],
    ["too large", { tools: [fn(large)] }, "tools[0].parameters", "at most 262144 bytes"],
    [
      "too large for an answer",
      { text: { format: { type: "json_schema", name: "x", schema: large } } },
      "text.format.schema",
      "at most 262144 bytes",
    ],
    [
      "too large together",
      {
        tools: Array.from({ length: 100 }, (_, n) => ({
          type: "function",
          name: `f${n}`,
          description: "x".repeat(30_000),
        })),
      },
      "tools",
      "at most 2000000 bytes",
    ],
  ])("%s", async (_, body, param, message) => {
    await using model = await startModelServer([]);
    await using server = await start(model.url);
    const refused = await post(server, body);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { param, message: expect.stringContaining(message) },
    });
  });
});

describe("JSON that is deeper than the stack is a 400", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  test.each([
    ["/v1/responses", `{"model":"test-model","input":"Go","metadata":{"a":${deep}}}`],
    ["/v1/responses", `{"model":"test-model","input":${deep}}`],
    ["/v1/responses", `{"model":"test-model","input":[{"type":"message","role":"user","content":${deep}}]}`],
    [
      "/v1/responses",
      `{"model":"test-model","input":"Go","tools":[{"type":"function","name":"f","parameters":{"a":${deep}}}]}`,
    ],
    [
      "/v1/responses",
      `{"model":"test-model","input":"Go","text":{"format":{"type":"json_schema","name":"x","schema":{"a":${deep}}}}}`,
    ],
    ["/v1/responses/input_tokens", `{"model":"test-model","input":${deep}}`],
    ["/v1/conversations", `{"metadata":{"a":${deep}}}`],
    ["/v1/conversations", `{"items":[{"type":"message","role":"user","content":${deep}}]}`],
    [
      "/v1/chat/completions",
      `{"model":"test-model","messages":[{"role":"user","content":"Hi","x":${deep}}]}`,
    ],
    ["/v1/responses", deep],
    ["/v1/chat/completions", deep],
  ])("%s", async (path, body) => {
    await using model = await startModelServer([]);
    await using server = await start(model.url);
    const refused = await send(server, path, body);
    expect([refused.status, await refused.json()]).toEqual([400, { error: expect.anything() }]);
    expect(await isHealthy(server)).toBe(true);
  });
});

describe("a call whose arguments are deeper than the stack is refused", () => {
  const deep = `${'{"a":'.repeat(100_000)}{}${"}".repeat(100_000)}`;
  const message = (args: string) =>
    `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"run","arguments":${args}}}]}`;
  const streamed = (args: string) => ({
    raw: [
      `data: {"choices":[{"index":0,"delta":${message(args)}}]}\n\n`,
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
    ],
  });
  const whole = (args: string) => ({
    body: `{"choices":[{"index":0,"message":${message(args)},"finish_reason":"tool_calls"}]}`,
    headers: { "content-type": "application/json" },
  });
  const text = (args: string) => `<tool_call>{"name":"run","arguments":${args}}</tool_call>`;
  test.each<[string, ServerStep]>([
    ["as text in a stream", streamed(JSON.stringify(deep))],
    ["as an object in a stream", streamed(deep)],
    ["as text in a whole answer", whole(JSON.stringify(deep))],
    ["as an object in a whole answer", whole(deep)],
    ["with other quotes", streamed(JSON.stringify(deep.replaceAll('"', "'")))],
    ["as JSON in a string", streamed(JSON.stringify(JSON.stringify(deep)))],
    ["as JSON in a property", streamed(JSON.stringify(JSON.stringify({ a: deep })))],
    ["in the text", text(deep)],
  ])("%s", async (_, answer) => {
    await using model = await startModelServer([answer, "I give up."]);
    await using server = await start(model.url);
    const made = await post(server, { tools: [withProperty({ type: "object" })] });
    const { status, output } = (await made.json()) as ResponseObject;
    expect(status).toBe("completed");
    expect(output.map(({ type }) => type)).toEqual(["mcp_call", "message"]);
    expect(JSON.stringify(model.requests[1])).toMatch(/Invalid (JSON|input)/);
    expect(await isHealthy(server)).toBe(true);
  });
});
