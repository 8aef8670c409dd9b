// `rondo mcp` as a process of its own, used by other people's clients: the SDK's and the official inspector.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test, vi } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { runCli } from "../program.ts";
import { testIo } from "../testkit/test-io.ts";

// Each test starts processes, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const toolFile = fileURLToPath(new URL("testkit/tools.ts", import.meta.url));
const command = [process.execPath, "--conditions=rondo-source", main, "mcp"] as const;

/** Nothing of the tests' own environment but what was compiled before. */
const { NODE_COMPILE_CACHE: compiled } = process.env;
const bare: Record<string, string> = compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled };

function clientOf(mode: VersionNegotiationMode): Client {
  return new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
}

const eras: [string, VersionNegotiationMode][] = [
  ["old", "legacy"],
  ["new", { pin: "2026-07-28" }],
];

const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").split("\n") : []);

/** What every client gets, on whatever way. */
async function checkTools(client: Client, log: string): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "add",
    "count",
    "fail",
    "look",
    "picture",
    "slow",
    "slow__sub",
    "wait",
  ]);
  expect(tools[0]).toMatchObject({
    description: "Adds two numbers.",
    inputSchema: { type: "object", required: ["a", "b"] },
  });
  const call = (name: string, input = {}) => client.callTool({ name, arguments: input });
  const text = (words: string) => ({ content: [{ type: "text", text: words }] });
  expect(await call("add", { a: 2, b: 3 })).toMatchObject(text("5"));
  expect(await call("look")).toMatchObject({
    ...text('{"found":["a"]}'),
    structuredContent: { found: ["a"] },
  });
  expect(await call("picture")).toMatchObject({ content: [{ type: "image", mimeType: "image/png" }] });
  expect(await call("slow__sub")).toMatchObject(text("from below"));
  expect(await call("fail")).toMatchObject({ ...text("It does not work."), isError: true });
  expect(await call("add", { a: "x" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("expected number") }],
  });
  expect(await call("slow")).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("20 ms") }],
  });
  expect(await call("nothing")).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("There is no tool 'nothing'. There are: add,") }],
  });

  const progress: unknown[] = [];
  const counted = await client.callTool(
    { name: "count", arguments: { to: 2 } },
    {
      onprogress: (step) => {
        progress.push(step);
        writeFileSync(`${log}.seen`, "");
      },
    },
  );
  expect(counted).toMatchObject(text("up to 2"));
  expect(progress[0]).toEqual({ progress: 1, message: "1" });

  const timesOf = (line: string) => linesOf(log).filter((it) => it === line).length;
  const before = timesOf("aborted");
  const controller = new AbortController();
  const outcome = client
    .callTool({ name: "wait", arguments: {} }, { signal: controller.signal })
    .catch((error: unknown) => error);
  await vi.waitUntil(() => timesOf("waiting") > before, { timeout: 20_000 });
  controller.abort();
  expect(await outcome).toBeInstanceOf(Error);
  await vi.waitUntil(() => timesOf("aborted") > before, { timeout: 20_000 });
}

test.each(eras)(
  "offers tools over stdio with the %s protocol, and ends with its client",
  async (_era, mode) => {
    using folder = folderWith();
    const log = join(folder.path, "log");
    const [node, ...args] = command;
    const transport = new StdioClientTransport({
      command: node,
      args: [...args, "--tools", toolFile],
      env: { ...bare, TOOL_LOG: log },
      stderr: "pipe",
    });
    let said = "";
    transport.stderr?.on("data", (chunk) => {
      said += String(chunk);
    });
    const client = clientOf(mode);
    await client.connect(transport);
    const { pid } = transport;
    await checkTools(client, log);
    // What tools print has gone where it does no harm.
    expect(said).toBe("This line is no message of the protocol.\nadding\n");
    await client.close();
    await vi.waitUntil(() => !isAlive(pid as number), { timeout: 20_000 });
  },
);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Running extends AsyncDisposable {
  readonly url: string;
}

/** Over HTTP, on a port that is free. */
async function startHttp(
  args: readonly string[],
  options: { cwd?: string; log?: string } = {},
): Promise<Running> {
  const [node, ...rest] = command;
  const child = spawn(node, [...rest, "--http", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...bare, ...(options.log !== undefined && { TOOL_LOG: options.log }) },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += String(chunk);
  });
  await vi.waitUntil(() => out.includes("needed)") || child.exitCode !== null, { timeout: 20_000 });
  const url = /at (http:\S+)/.exec(out)?.[1];
  if (url === undefined) throw new Error(`It has not started: ${out}`);
  return {
    url,
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    },
  };
}

test("offers tools over HTTP, to clients of both protocol versions", async () => {
  using folder = folderWith();
  const log = join(folder.path, "log");
  await using server = await startHttp(["--tools", toolFile], { log });
  for (const [, mode] of eras) {
    const client = clientOf(mode);
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    expect(client.getServerVersion()).toMatchObject({ name: "rondo" });
    await checkTools(client, log);
    await client.close();
  }
});

test("rejects web pages, foreign host names and other paths, and the official inspector lists and calls tools", async () => {
  await using server = await startHttp(["--tools", toolFile]);
  const inspected = expectInspector([server.url, "--transport", "http"]);
  const post = (headers: Record<string, string>, path = "") =>
    fetch(server.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  expect((await post({ origin: "https://evil.example" })).status).toBe(403);
  const named = request(server.url, { method: "POST", headers: { host: "evil.example" } }).end();
  const [answer] = (await once(named, "response")) as [IncomingMessage];
  expect(answer.resume().statusCode).toBe(403);
  expect((await post({}, "/more")).status).toBe(404);
  const lost = await post({ "mcp-session-id": "of-yesterday" });
  expect(lost.status).toBe(404);
  expect(await lost.json()).toMatchObject({
    error: { message: expect.stringContaining("session no longer exists") },
  });
  await inspected;
});

test("asks for the keys of the config, and does not listen to other machines without", async () => {
  // The hash of "secret".
  const hash = "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  using folder = folderWith({
    "rondo.config.ts": `import { add } from ${JSON.stringify(toolFile)};
export default { tools: [add], auth: { keys: [{ owner: "me", hash: "${hash}" }] } };`,
  });
  await using server = await startHttp([], { cwd: folder.path });
  const connect = async (headers: Record<string, string>) => {
    const client = clientOf("auto");
    const requestInit = { headers };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    return client;
  };
  await expect(connect({})).rejects.toThrow(/401|unauthorized|API key/i);
  const client = await connect({ authorization: "Bearer secret" });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add"]);
  await client.close();

  const [node, ...args] = command;
  using empty = folderWith();
  const open = [...args, "--http", "--host", "0.0.0.0", "--tools", toolFile];
  await expect(promisify(execFile)(node, open, { cwd: empty.path })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("other machines can reach 0.0.0.0"),
  });
});

test.each([
  ["no tools", [], 1, "There are no tools to offer."],
  ["a port without --http", ["--port", "1"], 2, "--host and --port go with --http"],
  ["a port that is none", ["--http", "--port", "x"], 2, "Expected a whole number from 0 to 65535"],
])("reports what is wrong: %s", async (_name, flags, exitCode, message) => {
  using folder = folderWith();
  const io = testIo({ cwd: folder.path });
  expect(await runCli(["mcp", ...flags], io)).toBe(exitCode);
  expect(io).toMatchObject({ out: "", err: expect.stringContaining(message), listenerCount: 0 });
});

const require = createRequire(import.meta.url);
const inspector = join(
  require.resolve("@modelcontextprotocol/inspector/package.json"),
  "../clients/launcher/build/index.js",
);

async function inspect(target: readonly string[], ...question: string[]): Promise<unknown> {
  const args = [inspector, "--cli", ...target, ...question];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, NO_COLOR: "1" },
  });
  return JSON.parse(stdout.slice(stdout.indexOf("{")));
}

const addCall = ["--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3"];

/** Each question is a process of its own. One after the other: it waits only 15 s for a server. */
async function expectInspector(target: readonly string[]): Promise<void> {
  const listed = await inspect(target, "--method", "tools/list");
  const called = await inspect(target, ...addCall);
  expect(listed).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: "add" })]) });
  expect(called).toEqual({ content: [{ type: "text", text: "5" }] });
}

test("the official inspector lists and calls tools over stdio", async () => {
  await expectInspector([...command, "--tools", toolFile]);
});
