// What an MCP server can do to those who use it: not much.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AnyTool } from "../tool/tool.ts";
import { type McpServer, type McpServerOptions, mcpServer } from "./index.ts";

// They start processes, on machines that may have much to do.
vi.setConfig({ testTimeout: 30_000 });

const rawServer = fileURLToPath(new URL("testkit/raw-server.ts", import.meta.url));
let folder = "";
let warnings: string[] = [];
const open: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-mcp-limits-"));
  warnings = [];
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
  rmSync(folder, { recursive: true });
});

function connect(options: McpServerOptions): McpServer {
  const server = mcpServer({ name: "raw", onWarning: (message) => warnings.push(message), ...options });
  open.push(() => server.close());
  return server;
}

/** A server whose answers are this code: `method`, `params` and `tool(name, schema)` are there. */
function answers(code: string): string {
  const file = join(folder, "answers.mjs");
  writeFileSync(
    file,
    `const tool = (name, inputSchema = { type: "object" }) => ({ name, inputSchema });
     export function answer(method, params) { ${code} }`,
  );
  return file;
}

const stdio = (code: string, options: object = {}) =>
  connect({ command: process.execPath, args: [rawServer, answers(code)], ...options });

async function http(code: string, options: object = {}): Promise<McpServer> {
  const child = spawn(process.execPath, [rawServer, answers(code), "--http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  open.push(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return connect({ url: `http://127.0.0.1:${String(port).trim()}/mcp`, ...options });
}

const names = async (server: McpServer) => (await server.tools()).map(({ name }) => name);
const list = (tools: string) => `if (method === "tools/list") return { tools: ${tools} };`;

describe("the list of tools", () => {
  test("loses only what is malformed or cannot be used, and says so", async () => {
    const server = stdio(
      list(`[tool("first"), null, 5, { name: 7 }, { name: "no_schema" }, tool("bad_schema", "text"),
        { ...tool("bad_words"), description: 5 }, tool("circle", { $ref: "#" }),
        tool("slow", { type: "object", properties: { a: { pattern: "(a)\\\\1" } } }),
        tool("deep", { type: "object", default: JSON.parse("[".repeat(2000) + "]".repeat(2000)) }),
        tool("large", { type: "object", description: "x".repeat(300000) }),
        tool("tree", { type: "object", properties: { children: { items: { $ref: "#" } } } }), tool("last")]`),
    );
    expect(await names(server)).toEqual(["first", "tree", "last"]);
    const told = warnings.join("\n");
    for (const words of [
      "expected an object, got null",
      "expected an object, got 5",
      "expected a name of 1 to 256 characters, got 7",
      "'no_schema'.inputSchema: expected a schema, got nothing",
      `'bad_schema'.inputSchema: expected a schema, got "text"`,
      "'bad_words'.description: expected a string, got 5",
      "'circle' of the MCP server 'raw' is left out",
      "leads back to itself",
      "'slow' of the MCP server 'raw' is left out",
      "'deep': expected at most 200 levels",
      "'large'.inputSchema: expected at most 262144 bytes",
    ])
      expect(told).toContain(words);
  });

  test("has at most 512 tools, whatever it has", async () => {
    const server = stdio(list(`Array.from({ length: 100000 }, (_, index) => tool("tool_" + index))`));
    expect(await names(server)).toHaveLength(512);
    expect(warnings).toEqual([expect.stringContaining("has more than 512 tools; the rest are left out.")]);
  });

  test("ends with the page that exceeds a limit", async () => {
    const pages = `if (method === "tools/list") {
      const page = Number(params.cursor ?? 0);
      return { tools: [tool("tool_" + page)], nextCursor: String(page + 1) };
    }`;
    expect(await names(stdio(pages, { maxTools: 3 }))).toEqual(["tool_0", "tool_1", "tool_2"]);
  });

  test("has at most so many bytes", async () => {
    const server = stdio(
      list(
        `Array.from({ length: 10 }, (_, index) => ({ ...tool("tool_" + index), description: "x".repeat(400) }))`,
      ),
      { maxListBytes: 1000 },
    );
    expect(await names(server)).toEqual(["tool_0", "tool_1"]);
    expect(warnings).toEqual([expect.stringContaining("more than 1000 bytes of tools")]);
  });

  test("has descriptions that are cut, and say so", async () => {
    const server = stdio(list(`[{ ...tool("talker"), description: "x".repeat(20000) }]`));
    const [talker] = await server.tools();
    expect(talker?.metadata.description).toBe(`${"x".repeat(10_000)}… (truncated)`);
    expect(server.definitionOf(talker as AnyTool)?.description).toBe(talker?.metadata.description);
  });

  test("may be something else altogether", async () => {
    expect(await names(stdio(list(`"none"`)))).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('listed no tools: expected a list, got "none"')]);
  });
});

describe("the result of a call", () => {
  const call = (result: string) => `${list(`[tool("run")]`)} if (method === "tools/call") return ${result};`;
  const run = async (server: McpServer) => (await server.tools())[0]?.execute({});
  const text = (length: number) => `{ content: [{ type: "text", text: "x".repeat(${length}) }] }`;

  test("is an error of the call where it is too large, and the server stays", async () => {
    const server = stdio(call(`globalThis.again ? ${text(5)} : (globalThis.again = true, ${text(2000)})`), {
      maxResultBytes: 1000,
    });
    await expect(run(server)).rejects.toThrow(
      "The MCP server 'raw' gave too much: the result of 'run' is larger than 1000 bytes (maxResultBytes).",
    );
    expect(await run(server)).toMatchObject({ content: [{ text: "xxxxx" }] });
  });

  test("is an error of the call where it is too deep", async () => {
    const deep = `{ content: [], structuredContent: { a: JSON.parse("[".repeat(2000) + "]".repeat(2000)) } }`;
    await expect(run(stdio(call(deep)))).rejects.toThrow("the result of 'run' is nested too deeply");
  });

  test.each([
    ["a line", stdio, text(20_000)],
    ["a body", http, text(20_000)],
    ["an event", http, `"data: " + "x".repeat(20000)`],
    ["an event of many lines", http, `"data: x\\n".repeat(5000)`],
  ])("ends the connection where %s is larger than any message", async (_, start, result) => {
    const server = await start(call(result), { maxMessageBytes: 10_000, timeoutMs: 10_000 });
    await expect(run(server)).rejects.toMatchObject({ code: "mcp_unreachable" });
  });

  test("may come after more small events than one may have bytes", async () => {
    const events = `"data: {\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"notifications/message\\",\\"params\\":{\\"level\\":\\"info\\",\\"data\\":1}}\\r\\n\\r\\n".repeat(500)`;
    const reply = `'data: {"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"done"}]}}\\n\\n'`;
    const server = await http(call(`${events} + ${reply}`), { maxMessageBytes: 10_000 });
    expect(await run(server)).toMatchObject({ content: [{ text: "done" }] });
  });
});

test.each(["maxTools", "maxListBytes", "maxDescriptionChars", "maxResultBytes", "maxMessageBytes"])(
  "%s has to be a whole number",
  (field) => {
    for (const value of [0, -1, 1.5, "5", Number.NaN])
      expect(() => mcpServer({ command: "x", [field]: value })).toThrow(
        `${field}: expected a whole number from 1`,
      );
  },
);
