import { describe, expect, test } from "vitest";
import type { Message } from "../model/message.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { tool } from "../tool/define.ts";
import type { LoopEvent } from "./events.ts";
import { run } from "./run.ts";
import { ToolSearch } from "./tool-search.ts";

const prompt: Message[] = [{ role: "user", content: "Go." }];
const many = Array.from({ length: 100 }, (_, number) =>
  tool(
    {
      name: `tool_${number}`,
      description: number === 42 ? "Sends a letter by pigeon." : `Does thing ${number}.`,
      input: { n: Number },
      registry: false,
    },
    async ({ n }) => `${number}: ${n}`,
  ),
);
const namesOf = (tools: readonly { function: { name: string } }[] = []) =>
  tools.map((it) => it.function.name);

describe("more tools than a model can take", () => {
  test("are found and called, and the beginning of the prompt stays", async () => {
    using model = scriptedModel([
      { calls: [{ name: "tool_search", input: { query: "send letters with a pigeon" } }] },
      { calls: [{ name: "call_tool", input: { name: "tool_42", arguments: { n: 7 } } }] },
      { calls: [{ name: "tool_42", input: { n: 8 } }] },
      { calls: [{ name: "call_tool", input: { name: "tool_42", arguments: { n: "x" } } }] },
      { calls: [{ name: "call_tool", input: { name: "nothing", arguments: {} } }] },
      "Sent.",
    ]);
    const events: LoopEvent[] = [];
    for await (const event of run(prompt, { model, tools: many })) events.push(event);
    const results = events.filter((it) => it.type === "tool.finished");
    expect(results.map(({ name, result }) => [name, result])).toEqual([
      ["tool_search", { tools: [expect.objectContaining({ name: "tool_42" })], hint: expect.any(String) }],
      ["tool_42", "42: 7"],
      ["tool_42", "42: 8"],
      ["tool_42", { tool: "tool_42", error: expect.stringContaining("expected number") }],
      ["nothing", { tool: "nothing", error: expect.stringContaining("not found") }],
    ]);
    expect(model.requests.map(({ tools }) => namesOf(tools))).toEqual(
      Array.from({ length: 6 }, () => ["tool_search", "call_tool"]),
    );
    // Whichever way it was called, the model reads it as it is offered.
    const call = { name: "call_tool", arguments: '{"name":"tool_42","arguments":{"n":7}}' };
    expect(model.requests[2]?.messages.slice(-2)).toMatchObject([
      { tool_calls: [{ function: call }] },
      { role: "tool", name: "call_tool", content: "42: 7" },
    ]);
    for (const [index, { messages }] of model.requests.entries())
      expect(messages.slice(0, model.requests[index - 1]?.messages.length ?? 0)).toEqual(
        model.requests[index - 1]?.messages ?? [],
      );
  });

  test.each([
    ["by their number", {}, ["tool_search", "call_tool"]],
    ["by a number of the user's", { maxTools: 100 }, many.map(({ name }) => name)],
    [
      "by a mark",
      { maxTools: 200, isDeferred: ({ name }: { name: string }) => name !== "tool_1" },
      ["tool_1", "tool_search", "call_tool"],
    ],
    [
      "but not the one that must be called",
      { toolChoice: { name: "tool_3" } },
      ["tool_3", "tool_search", "call_tool"],
    ],
  ])("are deferred %s", async (_why, options, names) => {
    using model = scriptedModel("Done.");
    for await (const _ of run(prompt, { model, tools: many, ...options }));
    expect(namesOf(model.requests[0]?.tools)).toEqual(names);
  });

  test("are deferred by their share of the window", async () => {
    using model = scriptedModel("Done.", { profile: { contextWindow: 1000 } });
    for await (const _ of run(prompt, { model, tools: many.slice(0, 20) }));
    expect(namesOf(model.requests[0]?.tools)).toEqual(["tool_search", "call_tool"]);
  });
});

describe("a search for tools", () => {
  const described = (name: string, description: string, input: Record<string, StringConstructor> = {}) =>
    tool({ name, description, input, registry: false }, async () => "");
  const search = new ToolSearch([
    described("read_file", "Reads a file from disk.", { path: String }),
    described("writeFile", "Writes a file to disk.", { path: String, text: String }),
    described("weather", "Tells the weather of a city.", { city: String }),
  ]);
  test.each([
    ["read a file", "read_file"],
    ["write", "writeFile"],
    ["what is it like outside in that city", "weather"],
    ["use the tool writeFile please", "writeFile"],
    ["weathers", "weather"],
  ])("for %j finds %s first", (query, name) => {
    expect(search.find(query)[0]?.name).toBe(name);
  });

  test("finds nothing where no word fits", () => {
    expect(search.find("xyzzy")).toEqual([]);
  });
});
