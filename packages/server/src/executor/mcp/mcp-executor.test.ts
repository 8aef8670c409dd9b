import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../store/testkit/temp-folder.ts";
import { McpExecutor, type McpExecutorOptions } from "./mcp-executor.ts";
import { type NotebookOptions, startNotebook } from "./testkit/notebook-server.ts";

async function started(options: Partial<McpExecutorOptions> = {}, notebookOptions: NotebookOptions = {}) {
  const notebook = await startNotebook(notebookOptions);
  const warnings: string[] = [];
  const mcp = await McpExecutor.create({
    servers: {},
    allowPrivate: [],
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  onTestFinished(() => mcp.close());
  const offer = (change: object = {}, owner = "ada") =>
    mcp.offer({
      definitions: [
        {
          index: 0,
          definition: { type: "mcp", server_label: "notes", server_url: notebook.url, ...change },
        },
      ],
      owner,
      responseId: "resp_1",
    });
  return { mcp, notebook, warnings, offer };
}

describe("a URL of a request is refused with a 400 that says why", () => {
  const refused = { status: 400, code: "mcp_url_refused", param: "tools[0].server_url" };

  test("when it is a private address", async () => {
    const { notebook, offer } = await started();
    await expect(offer()).rejects.toMatchObject(refused);
    await expect(offer()).rejects.toThrow(/mcp\.allowPrivate/);
    expect(notebook.headers).toEqual([]);
  });

  test("when its name stands for one", async () => {
    const { notebook, offer } = await started({ resolve: async () => [{ address: "127.0.0.1", family: 4 }] });
    const asked = offer({ server_url: `http://mcp.example:${notebook.port}/mcp` });
    await expect(asked).rejects.toMatchObject(refused);
    expect(notebook.headers).toEqual([]);
  });

  test("when it leads elsewhere", async () => {
    const { notebook, offer } = await started(
      { allowPrivate: ["*"] },
      {
        intercept: () =>
          new Response(null, { status: 307, headers: { location: "http://169.254.169.254/latest" } }),
      },
    );
    await expect(offer()).rejects.toMatchObject(refused);
    await expect(offer()).rejects.toThrow(/redirect/);
    expect(notebook.headers.length).toBeGreaterThan(0);
  });
});

describe("the servers of requests", () => {
  test("of one owner are kept up to a number, those of others are left alone", async () => {
    const { notebook, offer } = await started({ allowPrivate: ["*"] });
    await offer({}, "bob");
    for (let index = 0; index < 33; index += 1) await offer({ headers: { "x-n": String(index) } });
    const before = notebook.lists.count;
    await offer({ headers: { "x-n": "32" } });
    await offer({}, "bob");
    expect(notebook.lists.count).toBe(before);
    await offer({ headers: { "x-n": "0" } });
    expect(notebook.lists.count).toBe(before + 1);
  });

  test("stay for a run that needs them", async () => {
    const { offer } = await started({ allowPrivate: ["*"] });
    const held = await offer();
    const release = held.hold?.();
    for (let index = 0; index < 33; index += 1) await offer({ headers: { "x-n": String(index) } });
    const look = held.tools[0]?.tool;
    expect(await look?.execute({ n: 1 })).toMatchObject({ content: [{ text: "look 1 done" }] });
    release?.();
    await expect(look?.execute({ n: 2 })).rejects.toThrow(/closed/);
  });
});

test("a server of others, which nobody here can reach, is left out with a word", async () => {
  const { offer } = await started();
  const offered = await offer({ server_url: undefined, connector_id: "connector_gmail" });
  expect([offered.tools, offered.announcements, offered.ignored]).toEqual([
    [],
    [],
    ["the MCP server 'notes'"],
  ]);
});

test("a server of the config that hangs holds up one request a little and no other, and ends with us", async () => {
  using folder = tempFolder();
  const pidFile = join(folder.path, "pid");
  const script = `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const { mcp } = await started({
    patienceMs: 20,
    servers: { slow: { command: process.execPath, args: ["-e", script] } },
  });
  const request = { definitions: [], owner: "ada", responseId: "resp_1" };
  const first = await mcp.offer(request);
  const second = await mcp.offer(request);
  expect([first.tools, second.tools]).toEqual([[], []]);
  const readPid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0);
  await expect.poll(readPid).toBeGreaterThan(0);
  const pid = readPid();
  await mcp.close();
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
});
