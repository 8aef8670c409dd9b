import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { setLogger } from "../error/logger.ts";
import { Client, query } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { tool } from "../tool/define.ts";
import type { ToolSource } from "../tool/tool-source.ts";

const warn = vi.fn<(message: string) => void>();
beforeEach(() => setLogger({ warn }));
afterEach(() => {
  setLogger();
  warn.mockReset();
});

const named = (name: string, says = name) => tool(name, `Says ${says}.`, {}, () => says);

function source(name: string, ...lists: ReturnType<typeof named>[][]): ToolSource & { asked: number } {
  return {
    name,
    asked: 0,
    async tools() {
      this.asked += 1;
      return lists[Math.min(this.asked, lists.length) - 1] ?? [];
    },
    prefixed: (it) => named(`${name}__${it.name}`, it.name),
  };
}

async function ask(client: Client, prompt: string) {
  await client.query(prompt);
  return Array.fromAsync(client.receiveMessages());
}

describe("a tool source", () => {
  test("is asked for its tools before each run", async () => {
    const changing = source("changing", [named("first")], [named("first"), named("second")]);
    using model = scriptedModel(["Hello.", { calls: [{ name: "second" }] }, "Done."]);
    const client = new Client({ model, tools: [named("own"), changing], autoExecuteTools: true });
    expect(client.toolNames).toEqual(["own"]);
    await ask(client, "Hi");
    expect(client.toolNames).toEqual(["own", "first"]);
    const blocks = await ask(client, "Go");
    expect(blocks).toContainEqual(expect.objectContaining({ type: "tool_result", content: "second" }));
    expect(model.requests.map(({ tools }) => tools?.map((it) => it.function.name))).toEqual([
      ["own", "first"],
      ["own", "first", "second"],
      ["own", "first", "second"],
    ]);
    expect(changing.asked).toBe(2);
  });

  test("that fails is left out, with a warning", async () => {
    const broken: ToolSource = { name: "broken", tools: () => Promise.reject(new Error("Not there.")) };
    using model = scriptedModel(["Hello."]);
    const asked = query({ prompt: "Hi", options: { model, tools: [broken, named("own")] } });
    expect(await asked.result()).toMatchObject({ text: "Hello.", stopReason: "completed" });
    expect(warn).toHaveBeenCalledWith("The tools of broken are unavailable. Not there.", undefined);
  });

  test("prefixes a tool whose name is taken, and leaves it out if the prefixed name is taken too", async () => {
    using model = scriptedModel(["Hello."]);
    const tools = [source("a", [named("x"), named("y")]), named("x"), source("b", [named("y")], [])];
    const client = new Client({ model, tools: [...tools, { tools: async () => [named("x")] }] });
    await ask(client, "Hi");
    expect(client.toolNames).toEqual(["x", "a__x", "y", "b__y"]);
    expect(warn).toHaveBeenCalledWith(
      "The tool 'x' of a tool source is left out: its name is taken.",
      undefined,
    );
  });

  test("offers only the allowed tools", async () => {
    using model = scriptedModel(["Hello."]);
    const options = { model, tools: [source("s", [named("a"), named("b")])], disallowedTools: ["b"] };
    const client = new Client(options);
    await ask(client, "Hi");
    expect(client.toolNames).toEqual(["a"]);
  });

  test("is not waited for after an interrupt, nor after the client's signal", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const slow: ToolSource = {
      tools: (signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    };
    using model = scriptedModel([]);
    const client = new Client({ model, tools: [slow] });
    const asked = client.query("Hi");
    await vi.waitUntil(() => signals.length === 1);
    await client.interrupt();
    await asked;
    expect(signals[0]?.aborted).toBe(true);
    expect(client.stopReason).toBe("aborted");
    expect(client.history).toEqual([]);

    const controller = new AbortController();
    const other = new Client({ model, tools: [slow], signal: controller.signal });
    const waiting = other.query("Hi");
    await vi.waitUntil(() => signals.length === 2);
    controller.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
  });

  test("is checked", () => {
    using model = scriptedModel([]);
    expect(() => new Client({ model, tools: [{} as ToolSource] })).toThrow(
      "tools[0]: expected a tool made by tool(), or a source of tools",
    );
  });
});

test("arguments are repaired unless repairArguments is false", async () => {
  for (const repairArguments of [undefined, true, false]) {
    using model = scriptedModel([{ calls: [{ name: "say", arguments: "{'text': 'x'}" }] }, "Done."]);
    const said: string[] = [];
    const say = tool("say", "Says it.", { text: String }, ({ text }) => said.push(text));
    const client = new Client({
      model,
      tools: [say],
      autoExecuteTools: true,
      ...(repairArguments !== undefined && { repairArguments }),
    });
    await ask(client, "Hi");
    expect(said).toEqual(repairArguments === false ? [] : ["x"]);
  }
  expect(() => new Client({ model: scriptedModel([]), repairArguments: "no" as never })).toThrow(
    "repairArguments: expected true or false",
  );
});
