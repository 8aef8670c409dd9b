import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, hostedMcpTool, OpenAIProvider, Runner } from "@openai/agents";
import type { Response, Tool } from "openai/resources/responses/responses";
import { tool } from "rondo";
import type { ScriptedStep } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { everything, filesystem, killByFile, startEverything, testFolder } from "./testkit/mcp-servers.ts";
import { openaiClient } from "./testkit/openai-clients.ts";
import { start, type TestServer } from "./testkit/start.ts";

// Real MCP servers and real clients; all that the clients are sent is held against the public schema. The servers
// are processes, on machines that may have much to do.
vi.setConfig({ testTimeout: 30_000 });

const model = "test";
const sum = (a: number, b: number) => ({ calls: [{ name: "get-sum", input: { a, b } }] });
const allowPrivate = ["127.0.0.1"];

/** Begins as the script says, and then asks for the sum until it gets it: who was dead may need its time. */
function untilFive(beginning: readonly ReturnType<typeof control | typeof sum>[]): ScriptedStep {
  const script = [...beginning];
  return ({ messages }) => {
    const next = script.shift();
    const last = messages.at(-1);
    if (next || last?.role !== "tool") return next ?? "Nothing to do.";
    if (last.content.includes("is 5")) return "Done.";
    return last.name === "get-sum" ? control("rest") : sum(2, 3);
  };
}

/** What the model has done to the MCP servers, as if they had accidents. */
const control = (what: string) => ({ calls: [{ name: "control", input: { what } }] });

function controlTool(doings: Readonly<Record<string, () => Promise<void>>>) {
  return tool("control", "Starts and stops a server.", { what: String }, async ({ what }) => {
    await (doings[what]?.() ?? new Promise((resolve) => setTimeout(resolve, 100)));
    return what;
  });
}

function inShort({ output }: Pick<Response, "output">): string[] {
  return output.map((item) => {
    if (item.type === "mcp_call") return `${item.server_label}.${item.name}: ${item.output ?? "failed"}`;
    if (item.type === "mcp_list_tools")
      return `${item.server_label}: ${item.tools.length > 0 ? "tools" : "none"}`;
    return item.type === "message"
      ? item.content.map((it) => ("text" in it ? it.text : "")).join("")
      : item.type;
  });
}

describe("servers of the config over stdio", () => {
  test("are listed and called", async () => {
    const folder = await testFolder();
    await writeFile(join(folder, "a.txt"), "What is in it.");
    const read = { name: "read_text_file", input: { path: join(folder, "a.txt") } };
    const server = await start({
      script: [{ calls: [...sum(2, 3).calls, read] }, "Done."],
      config: { mcp: { servers: { all: everything(), files: filesystem(folder) } } },
    });
    const tools: Tool[] = [{ type: "mcp", server_label: "files" }];
    const response = await openaiClient(server)
      .responses.stream({ model, input: "Go", tools })
      .finalResponse();
    expect(inShort(response)).toEqual([
      "files: tools",
      "all.get-sum: The sum of 2 and 3 is 5.",
      "files.read_text_file: What is in it.",
      "Done.",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("that die in mid-run are an error for the model, and are started again", async () => {
    const pidFile = join(await testFolder(), "pid");
    const server = await start({
      script: untilFive([sum(1, 1), control("kill"), sum(2, 2)]),
      config: { maxAgenticTurns: 100, mcp: { servers: { all: everything(pidFile) } } },
      tools: [controlTool({ kill: () => killByFile(pidFile) })],
    });
    const response = await openaiClient(server).responses.create({ model, input: "Go" });
    expect(inShort(response).slice(0, 2)).toEqual([
      "all.get-sum: The sum of 1 and 1 is 2.",
      "local.control: kill",
    ]);
    expect(inShort(response).slice(-2)).toEqual(["all.get-sum: The sum of 2 and 3 is 5.", "Done."]);
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

describe("a server of the request over HTTP", () => {
  const named = (url: string): Tool => ({
    type: "mcp",
    server_label: "all",
    server_url: url,
    require_approval: "never",
  });

  test.each(["plain", "streamed"])("is listed and called, %s", async (way) => {
    const { url } = await startEverything();
    const server = await start({ script: [sum(2, 3), "Five."], config: { mcp: { allowPrivate } } });
    const client = openaiClient(server);
    const body = { model, input: "Go", tools: [named(url)] };
    const response =
      way === "plain"
        ? await client.responses.create(body)
        : await client.responses.stream(body).finalResponse();
    expect(inShort(response)).toEqual(["all: tools", "all.get-sum: The sum of 2 and 3 is 5.", "Five."]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("that is killed and started again in mid-run is an error, and then works again", async () => {
    const all = await startEverything();
    const server = await start({
      script: untilFive([sum(1, 1), control("stop"), sum(2, 2), control("start")]),
      config: { maxAgenticTurns: 100, mcp: { allowPrivate } },
      tools: [controlTool({ stop: () => all.kill(), start: () => all.start() })],
    });
    const response = await openaiClient(server).responses.create({
      model,
      input: "Go",
      tools: [named(all.url)],
    });
    const short = inShort(response);
    expect(short.slice(0, 5)).toEqual([
      "all: tools",
      "all.get-sum: The sum of 1 and 1 is 2.",
      "local.control: stop",
      "all.get-sum: failed",
      "local.control: start",
    ]);
    expect(short.slice(-2)).toEqual(["all.get-sum: The sum of 2 and 3 is 5.", "Done."]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("asks for approval through the openai package", async () => {
    const { url } = await startEverything();
    const server = await start({ script: [sum(2, 3), "Five."], config: { mcp: { allowPrivate } } });
    const client = openaiClient(server);
    const tools: Tool[] = [{ type: "mcp", server_label: "all", server_url: url }];
    const first = await client.responses.create({ model, input: "Go", tools });
    const asked = first.output.find((item) => item.type === "mcp_approval_request");
    expect(asked).toMatchObject({ name: "get-sum", arguments: '{"a":2,"b":3}', server_label: "all" });
    const next = await client.responses
      .stream({
        model,
        tools,
        previous_response_id: first.id,
        input: [{ type: "mcp_approval_response", approval_request_id: asked?.id ?? "", approve: true }],
      })
      .finalResponse();
    expect(inShort(next).slice(-2)).toEqual(["all.get-sum: The sum of 2 and 3 is 5.", "Five."]);
    const { data } = await client.responses.inputItems.list(next.id);
    expect(data.map(({ type }) => type)).toEqual(["mcp_approval_response"]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("at a private address is refused", async () => {
    const server = await start({ script: [] });
    const asked = openaiClient(server).responses.create({
      model,
      input: "Go",
      tools: [named("http://127.0.0.1:9/mcp")],
    });
    await expect(asked).rejects.toMatchObject({ status: 400, code: "mcp_url_refused" });
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

describe("the Agents SDK with a hosted MCP tool", () => {
  function agentOf(server: TestServer, hosted: ReturnType<typeof hostedMcpTool>) {
    const modelProvider = new OpenAIProvider({ openAIClient: openaiClient(server), useResponses: true });
    const agent = new Agent({ name: "Tester", model, tools: [hosted] });
    return { agent, runner: new Runner({ modelProvider, tracingDisabled: true }) };
  }

  test.each([false, true])("runs it, streamed: %j", async (isStreamed) => {
    const { url } = await startEverything();
    const server = await start({ script: [sum(2, 3), "Five."], config: { mcp: { allowPrivate } } });
    const hosted = hostedMcpTool({ serverLabel: "all", serverUrl: url, requireApproval: "never" });
    const { agent, runner } = agentOf(server, hosted);
    const work = async () => {
      if (!isStreamed) return runner.run(agent, "Go");
      const result = await runner.run(agent, "Go", { stream: true });
      await result.completed;
      return result;
    };
    expect((await work()).finalOutput).toBe("Five.");
    expect(inShort(server.exchanges.responses[0])[1]).toBe("all.get-sum: The sum of 2 and 3 is 5.");
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test.each([true, false])("asks a function of the client for approval, which says %j", async (approve) => {
    const { url } = await startEverything();
    const server = await start({ script: [sum(2, 3), "Done."], config: { mcp: { allowPrivate } } });
    const asked: string[] = [];
    const hosted = hostedMcpTool({
      serverLabel: "all",
      serverUrl: url,
      requireApproval: "always",
      onApproval: async (_context, { rawItem }) => {
        asked.push(JSON.stringify(rawItem));
        return { approve, reason: "because" };
      },
    });
    const { agent, runner } = agentOf(server, hosted);
    expect((await runner.run(agent, "Go")).finalOutput).toBe("Done.");
    expect(asked).toHaveLength(1);
    const calls = server.exchanges.responses.flatMap((response) =>
      inShort(response).filter((line) => line.startsWith("all.")),
    );
    expect(calls).toEqual(approve ? ["all.get-sum: The sum of 2 and 3 is 5."] : []);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("lets a person decide later", async () => {
    const { url } = await startEverything();
    const server = await start({ script: [sum(2, 3), "Done."], config: { mcp: { allowPrivate } } });
    const hosted = hostedMcpTool({ serverLabel: "all", serverUrl: url, requireApproval: "always" });
    const { agent, runner } = agentOf(server, hosted);
    const result = await runner.run(agent, "Go");
    expect(result.interruptions).toHaveLength(1);
    for (const interruption of result.interruptions) result.state.approve(interruption);
    expect((await runner.run(agent, result.state)).finalOutput).toBe("Done.");
    expect(server.exchanges.flaws()).toEqual([]);
  });
});
