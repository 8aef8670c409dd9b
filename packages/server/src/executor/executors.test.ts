// Who runs which tool.

import { type AnyTool, tool } from "rondo";
import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../protocol/tools.ts";
import type { ToolExecutor } from "./executor.ts";
import { Executors, type ExecutorsOptions } from "./executors.ts";

const local = (name: string): AnyTool =>
  tool({ name, description: name, input: {}, registry: false }, async () => name);
const clock = local("clock");
const lamp = local("lamp");

function offer(definitions: readonly ToolDefinition[], options: ExecutorsOptions = {}) {
  const executors = new Executors({ tools: [clock, lamp], ...options });
  return executors.offer({ definitions, responseId: "resp_1", owner: "ada" });
}

const names = ({ tools }: { tools: readonly AnyTool[] }) => tools.map(({ wireName }) => wireName);
const call = (name: string): ToolDefinition => ({ type: "function", name, parameters: { type: "object" } });

describe("a function of the request", () => {
  test("is the client's", async () => {
    const made = await offer([call("weather")], { tools: [] });
    expect(made.find("weather")).toMatchObject({ runsHere: false });
    expect(made.isAgentic).toBe(false);
  });

  test("stands before a tool of the config with its name", async () => {
    const made = await offer([call("clock")]);
    expect(names(made)).toEqual(["clock", "lamp"]);
    expect(made.find("clock")).toMatchObject({ runsHere: false });
    expect(made.find("lamp")).toMatchObject({ runsHere: true, identity: { label: "local" } });
    expect(made.isAgentic).toBe(true);
  });

  test("and the same others are the same offer for the next request, of the last lists", async () => {
    const executors = new Executors({});
    const ask = (...names: string[]) =>
      executors.offer({ definitions: names.map(call), responseId: "resp_1", owner: "ada" });
    const first = await ask("a", "b");
    expect(await ask("a", "b")).toBe(first);
    expect(Object.isFrozen(first)).toBe(true);
    for (const others of [["a"], ["b", "a"], ["a", "b", "c"], ["a", "c"]]) {
      expect(names(await ask(...others))).toEqual(others);
      expect(await ask(...others)).not.toBe(first);
    }
    const again = await ask("a", "b");
    for (let index = 0; index < 40; index += 1) await ask(`other_${index}`, "b");
    expect(await ask("a", "b")).not.toBe(again);
  });

  test("beside what the server or an executor offers is merged for each request", async () => {
    const executors = new Executors({ tools: [lamp] });
    const ask = (definitions: ToolDefinition[]) =>
      executors.offer({ definitions, responseId: "resp_1", owner: "ada" });
    const both = await ask([call("a")]);
    expect(names(both)).toEqual(["a", "lamp"]);
    expect(await ask([call("a")])).not.toBe(both);
    const ignored = await ask([call("a"), { type: "unknown" }]);
    expect(ignored.ignored).toEqual(["the tool 'unknown'"]);
    expect((await ask([call("a")])).ignored).toEqual([]);
  });

  test("that cannot be a tool is refused with its place", async () => {
    await expect(offer([call("fine"), call("not fine!")])).rejects.toThrow(
      expect.objectContaining({ status: 400, param: "tools[1]" }),
    );
  });
});

describe("the server `local`", () => {
  const server = (rest: object): ToolDefinition => ({ type: "mcp", server_label: "local", ...rest });

  test.each([
    [{}, ["clock", "lamp"]],
    [{ allowed_tools: ["lamp"] }, ["lamp"]],
    [{ allowed_tools: [] }, []],
    [{ allowed_tools: { tool_names: ["clock"] } }, ["clock"]],
    [{ allowed_tools: { read_only: true } }, ["clock", "lamp"]],
  ])("with %o offers %o", async (rest, expected) => {
    expect(names(await offer([server(rest)]))).toEqual(expected);
  });
});

describe("a tool that nobody can run", () => {
  test("is left out, and named for the log", async () => {
    const made = await offer([
      { type: "web_search" },
      { type: "mcp", server_label: "elsewhere", name: "wiki" },
    ]);
    expect(made.ignored).toEqual(["the tool 'web_search'", "the tool 'wiki'"]);
    expect(names(made)).toEqual(["clock", "lamp"]);
  });

  test("is refused where it is a code interpreter: the model would go on as if it had one", async () => {
    await expect(
      offer([call("f"), { type: "code_interpreter", container: { type: "auto" } }]),
    ).rejects.toThrow(
      expect.objectContaining({
        status: 400,
        param: "tools[1]",
        code: "unsupported_tool",
        message: expect.stringContaining("no sandbox"),
      }),
    );
  });
});

describe("an executor of the config", () => {
  function executor(rest: Partial<ToolExecutor> & Pick<ToolExecutor, "canExecute">) {
    const made: ToolExecutor = {
      kind: "own",
      execute: async ({ id }) => ({ callId: id, output: "done" }),
      ...rest,
    };
    return { made };
  }

  test("runs functions that it knows, before the client does", async () => {
    const { made } = executor({ canExecute: ({ name }) => name === "search" });
    const offered = await offer([call("search"), call("weather")], { executors: [made] });
    expect(offered.find("weather")).toMatchObject({ runsHere: false });
    expect(offered.find("search")).toMatchObject({ runsHere: true, identity: { label: "own" } });
  });

  test("runs types of its own, as it describes them to the model", async () => {
    const { made } = executor({
      canExecute: ({ type }) => type === "web_search",
      describe: ({ type }) => ({
        name: `do_${type}`,
        description: "Searches.",
        parameters: { properties: { q: {} } },
      }),
      isIdempotent: true,
      timeoutMs: 1234,
    });
    const offered = await offer([{ type: "web_search" }], { executors: [made] });
    const { tool: found } = offered.find("do_web_search") ?? {};
    expect(found?.toOpenAI().function).toMatchObject({
      description: "Searches.",
      parameters: { type: "object" },
    });
    expect(found?.isIdempotent).toBe(true);
    expect(offered.ignored).toEqual([]);
  });

  test("may run the code interpreter", async () => {
    const { made } = executor({
      canExecute: ({ type }) => type === "code_interpreter",
      describe: () => ({ name: "python", description: "Runs code.", parameters: {} }),
    });
    expect(names(await offer([{ type: "code_interpreter" }], { executors: [made], tools: [] }))).toEqual([
      "python",
    ]);
  });

  test("a second tool of the request with the same name is left out, and named for the log", async () => {
    const { made } = executor({
      canExecute: ({ type }) => type === "web_search",
      describe: () => ({ name: "search", description: "Searches.", parameters: {} }),
    });
    const offered = await offer([call("search"), { type: "web_search" }], { executors: [made], tools: [] });
    expect(offered.find("search")).toMatchObject({ runsHere: false });
    expect(offered.ignored).toEqual(["a second tool 'search'"]);
  });

  test("of several, the first that can does", async () => {
    const first = executor({ kind: "first", canExecute: () => true }).made;
    const second = executor({ kind: "second", canExecute: () => true }).made;
    expect((await offer([call("f")], { executors: [first, second] })).find("f")).toMatchObject({
      identity: { label: "first" },
    });
  });

  test("asks before it runs a call if the request wants that", async () => {
    const { made } = executor({ canExecute: ({ type }) => type === "mcp" });
    const needsApproval = async (require_approval?: string) => {
      const server = {
        type: "mcp",
        server_label: "s",
        name: "ask",
        ...(require_approval && { require_approval }),
      };
      return (await offer([server], { executors: [made] })).find("ask")?.needsApproval;
    };
    expect(await Promise.all(["always", "never", undefined].map(needsApproval))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("needs a name for a tool that it does not describe", async () => {
    const { made } = executor({ canExecute: () => true });
    await expect(offer([{ type: "odd" }], { executors: [made] })).rejects.toThrow(
      expect.objectContaining({ status: 400, param: "tools[0].name" }),
    );
  });
});
