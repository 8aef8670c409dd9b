import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AnyTool } from "../tool/tool.ts";
import { type McpServer, type McpServerOptions, mcpServer } from "./index.ts";
import { linesOf, small } from "./testkit/servers.ts";

// They start processes, on machines that may have much to do.
vi.setConfig({ testTimeout: 30_000 });

let folder = "";
const open: McpServer[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rondo-mcp-"));
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

function connect(options: McpServerOptions): McpServer {
  const server = mcpServer({ onWarning: () => {}, ...options });
  open.push(server);
  return server;
}

async function pick(server: McpServer, name: string): Promise<AnyTool> {
  const found = (await server.tools()).find((tool) => tool.name === name);
  if (!found) throw new Error(`There is no tool '${name}'.`);
  return found;
}

const run = async (server: McpServer, name: string, input: object = {}, signal?: AbortSignal) =>
  (await pick(server, name)).execute(input, signal ? { signal } : {});

const text = (words: string) => ({ content: [{ type: "text", text: words }] });

describe("both eras", () => {
  test.each([
    ["one that speaks only the new era", ["--modern"]],
    ["one that speaks both is spoken to in the new", []],
  ])("%s", async (_name, flags) => {
    const server = connect(small(...flags));
    expect(await run(server, "pid")).toMatchObject({ content: [{ type: "text" }] });
    expect(server.protocolVersion).toBe("2026-07-28");
  });
});

describe("an abort", () => {
  test("reaches the server", async () => {
    const log = join(folder, "log");
    const server = connect(small("--log", log));
    const controller = new AbortController();
    const outcome = run(server, "wait", {}, controller.signal).catch((error: unknown) => error);
    await vi.waitUntil(() => linesOf(log).includes("waiting"), { timeout: 10_000 });
    const reason = new Error("no more");
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.waitUntil(() => linesOf(log).includes("aborted"), { timeout: 10_000 });
  });

  test("of one caller of tools() leaves the server to the others", async () => {
    const server = connect(small());
    const controller = new AbortController();
    const asked = server.tools(controller.signal);
    const others = server.tools();
    controller.abort(new Error("left"));
    await expect(asked).rejects.toThrow("left");
    expect(await others).not.toEqual([]);
  });

  test("comes by itself when the time of a call is up", async () => {
    const log = join(folder, "log");
    const server = connect({ ...small("--log", log), timeoutMs: 50 });
    await expect(run(server, "wait")).rejects.toThrow("50 ms");
    await vi.waitUntil(() => linesOf(log).includes("aborted"), { timeout: 10_000 });
  });
});

describe("a server that dies", () => {
  test("fails the call, and is started again for the next", async () => {
    const server = connect(small());
    const changes: string[] = [];
    server.onToolsChanged(() => changes.push("changed"));
    expect(server.state).toBe("idle");
    const picking = pick(server, "pid");
    expect(server.state).toBe("connecting");
    const pid = await picking;
    expect(server.state).toBe("connected");
    const first = await pid.execute();
    await expect(run(server, "die")).rejects.toThrow(
      "The MCP server 'small' was lost during the call: Connection closed.",
    );
    const second = await pid.execute();
    expect(second).not.toEqual(first);
    expect(changes).toEqual(["changed"]);
    expect((await server.tools()).map(({ name }) => name)).toContain("pid");
  });

  test("stays dead if reconnect is off, and its tools are still known", async () => {
    const onWarning = vi.fn<(message: string) => void>();
    const server = connect({ ...small(), reconnect: false, onWarning });
    const before = await server.tools();
    await expect(run(server, "die")).rejects.toThrow("was lost");
    expect(await server.tools()).toEqual(before);
    const message = "The MCP server 'small' has died, and reconnect is off.";
    expect(onWarning).toHaveBeenCalledWith(expect.stringContaining(message));
    await expect(run(server, "pid")).rejects.toThrow(message);
  });
});

describe("a traced call", () => {
  test.each([
    ["alone", []],
    ["with progress", ["--progress"]],
  ])("carries the headers of its trace: %s", async (_name, [progress]) => {
    const log = join(folder, "log");
    const server = connect({ ...small("--log", log), ...(progress && { onProgress: () => {} }) });
    const pid = await pick(server, "pid");
    const headers = () => ({ traceparent: "00-1234-5678-01" });
    await pid.execute({}, { tracer: { record: () => {}, headers } });
    await pid.execute({}, { tracer: { record: () => {} } });
    expect(linesOf(log).filter((line) => line !== "listed" && line !== "started")).toEqual([
      "called pid",
      "traceparent 00-1234-5678-01",
      "called pid",
    ]);
  });
});

describe("the list of tools", () => {
  test("is asked for once", async () => {
    const log = join(folder, "log");
    const server = connect(small("--log", log));
    const [first, second] = await Promise.all([server.tools(), server.tools()]);
    expect(first).toBe(second);
    expect(await server.tools()).toBe(first);
    expect(linesOf(log).filter((line) => line === "listed")).toHaveLength(1);
  });

  test("is renewed when the server says so", async () => {
    const server = connect(small());
    const changed = new Promise<void>((resolve) => server.onToolsChanged(resolve));
    const before = (await server.tools()).map(({ name }) => name);
    await run(server, "grow");
    await changed;
    expect((await server.tools()).map(({ name }) => name)).toEqual([...before, "grown"]);
  });

  test("has names that models can have, and leaves out what cannot be used", async () => {
    const onWarning = vi.fn<(message: string) => void>();
    const server = connect({ ...small(), onWarning });
    const tools = await server.tools();
    const names = tools.map(({ name }) => name);
    expect(names.slice(6, 8)).toEqual(["odd_name_with_spaces", "odd_name_with_spaces_2"]);
    expect(names[8]).toMatch(/^x{57,}_\w+$/);
    expect(names).not.toContain("broken");
    expect(onWarning).toHaveBeenCalledWith(
      expect.stringContaining("The tool 'broken' of the MCP server 'small' is left out"),
    );
    expect(await tools[6]?.execute()).toMatchObject(text("ran odd.name/with spaces"));
    expect(server.definitionOf(tools[6] as AnyTool)).toMatchObject({ name: "odd.name/with spaces" });
    const prefixed = server.prefixed(tools[1] as AnyTool);
    expect(prefixed.name).toBe("small__pid");
    expect(server.prefixed(tools[1] as AnyTool)).toBe(prefixed);
    expect(await prefixed.execute()).toMatchObject({ content: [{ type: "text" }] });
  });
});

describe("what servers do", () => {
  test("a failure of a tool is its result, and noise on standard output is passed over", async () => {
    const server = connect(small("--noise"));
    expect(await run(server, "fail")).toMatchObject({ isError: true });
  });

  test("a large result comes whole; one beyond all measure ends the call, and the server is started again", async () => {
    const server = connect(small());
    const result = (await run(server, "huge", { size: 2_000_000 })) as { content: { text: string }[] };
    expect(result.content[0]?.text).toHaveLength(2_000_000);
    await expect(run(server, "huge", { size: 11_000_000 })).rejects.toThrow("was lost during the call");
    expect(await run(server, "pid")).toMatchObject({ content: [{ type: "text" }] });
  });
});

describe("an unreachable server", () => {
  test.each([
    [
      "an unknown command",
      { command: "no-such-program" },
      "'no-such-program' did not start: the program 'no-such-program' was not found",
    ],
    [
      "a command that ends, with its last words",
      { command: process.execPath, args: ["--eval", "console.error('No key!'); process.exit(1)"], name: "x" },
      "The MCP server 'x' did not start: Connection closed. It said: No key!",
    ],
    [
      "an address where nobody answers",
      { url: "http://127.0.0.1:2/mcp" },
      "connect ECONNREFUSED 127.0.0.1:2",
    ],
  ])("%s", async (_name, options, message) => {
    const server = connect(options);
    await expect(server.tools()).rejects.toThrow(message);
    expect(server.protocolVersion).toBeUndefined();
    expect(server.state).toBe("failed");
    expect(server.failure?.message).toContain("did not start");
    // Not tried again at once.
    await expect(server.tools()).rejects.toThrow("the next try is in");
  });

  test("one that says nothing the protocol knows", async () => {
    const args = ["--eval", "setInterval(() => console.log('tick'), 10)"];
    const server = connect({ command: process.execPath, args, connectTimeoutMs: 300, name: "clock" });
    await expect(server.tools()).rejects.toThrow(
      "The MCP server 'clock' did not start: no answer within 300 ms.",
    );
  });

  test("is not asked again after close()", async () => {
    const server = connect(small());
    const pid = await pick(server, "pid");
    await server.close();
    await expect(pid.execute()).rejects.toThrow("The MCP server 'small' is closed.");
    await expect(server.tools()).rejects.toThrow("is closed.");
    await server.close();
  });

  test("close() ends a call under way", async () => {
    const log = join(folder, "log");
    const server = connect(small("--log", log));
    const outcome = run(server, "wait").catch((error: unknown) => error);
    await vi.waitUntil(() => linesOf(log).includes("waiting"), { timeout: 10_000 });
    await server.close();
    expect(await outcome).toMatchObject({ code: "mcp_unreachable" });
  });
});
