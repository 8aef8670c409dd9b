import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { freePort } from "../../../../test/support/free-port.ts";
import type { AnyTool } from "../tool/tool.ts";
import { type McpProgress, type McpServer, type McpServerOptions, mcpServer } from "./index.ts";
import { everything, filesystem, startEverything } from "./testkit/servers.ts";

// They start processes, on machines that may have much to do.
vi.setConfig({ testTimeout: 30_000 });

let folder = "";
const open: McpServer[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rondo-mcp-")));
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

function connect(options: McpServerOptions): McpServer {
  const server = mcpServer(options);
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

describe("the servers of the registry", () => {
  test("are listed and called over stdio, in the old era, and say when their tools change", async () => {
    const server = connect(everything());
    const changed = new Promise<void>((resolve) => server.onToolsChanged(resolve));
    const tools = await server.tools();
    expect(tools.map(({ name }) => name)).toContain("get-sum");
    expect(server.protocolVersion).toBe("2025-11-25");
    const sum = await pick(server, "get-sum");
    expect(sum.toOpenAI().function.parameters).toMatchObject({ type: "object", required: ["a", "b"] });
    expect(await sum.execute({ a: 2, b: 3 })).toMatchObject(text("The sum of 2 and 3 is 5."));
    await expect(sum.execute({ a: "two" })).rejects.toThrow("expected number");
    const image = (await run(server, "get-tiny-image")) as { content: { type: string }[] };
    expect(image.content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
    await changed;
    expect(await server.tools()).not.toBe(tools);
  });

  test("are listed and called over streamable HTTP", async () => {
    await using running = await startEverything(await freePort());
    const server = connect({ url: running.url, onWarning: () => {} });
    expect(server.name).toBe("127_0_0_1");
    expect(await run(server, "echo", { message: "hi" })).toMatchObject(text("Echo: hi"));
  });

  test("read files", async () => {
    writeFileSync(join(folder, "a.txt"), "What is in it.");
    const server = connect({ ...filesystem(folder), allowedTools: ["read_text_file", "write_file"] });
    expect((await server.tools()).map(({ name }) => name)).toEqual(["read_text_file", "write_file"]);
    const read = await pick(server, "read_text_file");
    expect(read.isIdempotent).toBe(true);
    expect(await read.execute({ path: join(folder, "a.txt") })).toMatchObject(text("What is in it."));
    expect(await read.execute({ path: "/etc/passwd" })).toMatchObject({ isError: true });
  });

  test("tell the progress of a call, and hear of its end", async () => {
    const seen: McpProgress[] = [];
    const controller = new AbortController();
    const server = connect({
      ...everything(),
      onProgress: (progress) => {
        seen.push(progress);
        controller.abort(new Error("enough"));
      },
    });
    const input = { duration: 60, steps: 600 };
    await expect(run(server, "trigger-long-running-operation", input, controller.signal)).rejects.toThrow(
      "enough",
    );
    expect(seen[0]).toMatchObject({ tool: "trigger-long-running-operation", progress: 1, total: 600 });
    expect(await run(server, "echo", { message: "still there" })).toMatchObject(text("Echo: still there"));
  });

  test("are found again over HTTP after a restart, in the same call", async () => {
    const port = await freePort();
    const first = await startEverything(port);
    const server = connect({ url: first.url, onWarning: () => {} });
    const echo = await pick(server, "echo");
    await first[Symbol.asyncDispose]();
    await expect(echo.execute({ message: "hi" })).rejects.toThrow("The MCP server '127_0_0_1'");
    await using second = await startEverything(port);
    expect(second.url).toBe(first.url);
    const isBack = async () => {
      try {
        return (await echo.execute({ message: "hi" })) !== undefined;
      } catch {
        return false;
      }
    };
    await vi.waitUntil(isBack, { timeout: 20_000 });
    // Started anew behind the client's back: it does not know the session.
    await second[Symbol.asyncDispose]();
    await using third = await startEverything(port);
    expect(third.url).toBe(first.url);
    expect(await echo.execute({ message: "again" })).toMatchObject(text("Echo: again"));
  });
});
