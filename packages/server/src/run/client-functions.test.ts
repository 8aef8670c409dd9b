// Tools that the client runs, and what it may choose among them.

import { tool } from "rondo";
import { describe, expect, test } from "vitest";
import type { OutputItem } from "../protocol/items.ts";
import { startScripted as start, toolMessages } from "./testkit/scripted.ts";
import { plain, stream } from "./testkit/service.ts";
import { calls, inShort, weather } from "./testkit/tools.ts";

const ids = (output: readonly OutputItem[]) =>
  output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));

describe("functions of the client", () => {
  test("end the response in one shot, and the next request gives their results", async () => {
    const { service, model } = await start(
      [{ text: "Let me see.", calls: calls("weather", "weather") }, "Sunny."],
      {
        tools: [],
      },
    );
    const first = await plain(service, { input: "Weather?", tools: [weather] });
    expect(first.status).toBe("requires_action");
    expect(inShort(first.output)).toEqual([
      "message: Let me see.",
      'weather({"city":"Rome"})',
      'weather({"city":"Rome"})',
    ]);
    const [one, two] = ids(first.output);
    const output = (call_id: string | undefined, value: string) => ({
      type: "function_call_output",
      call_id,
      output: value,
    });
    const second = await plain(service, {
      tools: [weather],
      previous_response_id: first.id,
      input: [output(two, "cold"), output(one, "hot")],
    });
    expect(second).toMatchObject({ status: "completed", previous_response_id: first.id });
    expect(model.requests[1]?.messages).toMatchObject([
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "Let me see.", tool_calls: [{ id: one }, { id: two }] },
      { role: "tool", tool_call_id: one, content: "hot" },
      { role: "tool", tool_call_id: two, content: "cold" },
    ]);
  });

  test("have ids of their own, also where the model gives each call the same", async () => {
    const { service } = await start({ calls: [{ id: "call_0", name: "weather", input: { city: "Rome" } }] });
    const seen: string[] = [];
    let previous: { previous_response_id?: string; input: unknown } = { input: "Weather?" };
    for (let turn = 0; turn < 3; turn += 1) {
      const { id, output } = await plain(service, { ...previous, tools: [weather] });
      const [call_id] = ids(output);
      seen.push(call_id ?? "");
      previous = {
        previous_response_id: id,
        input: [{ type: "function_call_output", call_id, output: "sun" }],
      };
    }
    expect(new Set(seen).size).toBe(3);
    expect(seen).not.toContain("call_0");
  });

  test("that are left unanswered, or answered for nothing, are refused", async () => {
    const { service } = await start([{ calls: calls("weather") }]);
    const first = await plain(service, { input: "Weather?", tools: [weather] });
    const follow = (input: unknown) =>
      service.prepare("ada", { model: "test", previous_response_id: first.id, input });
    await expect(follow("Well?")).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`No tool output found for function call ${ids(first.output)[0]}`),
    });
    const wrong = [{ type: "function_call_output", call_id: "call_9", output: "" }];
    await expect(follow(wrong)).rejects.toMatchObject({
      status: 400,
      param: expect.stringContaining("input"),
      message: expect.stringContaining(
        `The calls without an output are ${ids(first.output)[0]}. Use the call_id`,
      ),
    });
  });

  test("win over a tool of the server with the same name", async () => {
    const { service, model } = await start([{ calls: calls("add") }]);
    const mine = { type: "function", name: "add", description: "Mine", parameters: { type: "object" } };
    const response = await plain(service, { input: "Go", tools: [mine] });
    expect(inShort(response.output)).toEqual(['add({"a":1,"b":2})']);
    expect(model.requests[0]?.tools?.filter((it) => it.function.name === "add")).toMatchObject([
      { function: { description: "Mine" } },
    ]);
  });
});

test("in a mixed turn the server's calls run first, and then the client's are asked for", async () => {
  const { service, model } = await start([{ calls: calls("weather", "add", "weather", "broken") }, "Done."]);
  const { events, response } = await stream(service, { input: "Go", tools: [weather] });
  expect(response.status).toBe("requires_action");
  expect(inShort(response.output)).toEqual([
    "add: 3",
    "broken: ! The mainspring is broken.",
    'weather({"city":"Rome"})',
    'weather({"city":"Rome"})',
  ]);
  const place = (type: string, itemType: string) =>
    events.flatMap((event, index) =>
      event.type === type && "item" in event && event.item.type === itemType ? [index] : [],
    );
  expect(Math.max(...place("response.output_item.done", "mcp_call"))).toBeLessThan(
    Math.min(...place("response.output_item.added", "function_call")),
  );
  const input = ids(response.output).map((call_id) => ({
    type: "function_call_output",
    call_id,
    output: "sun",
  }));
  await plain(service, { previous_response_id: response.id, input, tools: [weather] });
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "tool",
    "tool",
    "tool",
  ]);
});

describe("tool_choice", () => {
  test.each(["required", { type: "function", name: "add" }])(
    "%o holds for the first turn only",
    async (choice) => {
      const { service, model } = await start([{ calls: calls("add") }, { calls: calls("add") }, "Done."]);
      await plain(service, { input: "Go", tool_choice: choice });
      expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
        typeof choice === "string" ? choice : { name: "add" },
        "auto",
        "auto",
      ]);
    },
  );

  test("none sends the tools and runs nothing: calls come back, and the conversation goes on", async () => {
    const { service, model } = await start([{ text: "I would", calls: calls("add", "weather") }, "Fine."]);
    const response = await plain(service, { input: "Go", tools: [weather], tool_choice: "none" });
    expect(response.status).toBe("completed");
    expect(inShort(response.output)).toEqual([
      "message: I would",
      'add({"a":1,"b":2})',
      'weather({"city":"Rome"})',
    ]);
    expect(model.requests[0]).toMatchObject({ toolChoice: "none" });
    expect(model.requests[0]?.tools).toHaveLength(4);
    expect(await plain(service, { previous_response_id: response.id, input: "Go on." })).toMatchObject({
      status: "completed",
    });
    expect(toolMessages(model.requests[1]?.messages ?? []).map(({ content }) => content)).toEqual([
      "This call was not run.",
      "This call was not run.",
    ]);
  });

  test("with a name that nobody has is refused", async () => {
    const { service } = await start([]);
    const body = { model: "test", input: "Go", tool_choice: { type: "function", name: "nobody" } };
    await expect(service.prepare("ada", body)).rejects.toMatchObject({
      status: 400,
      param: "tool_choice",
      message: expect.stringContaining('"add"'),
    });
  });

  test.each([
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "add" }] } },
    { allowed_tools: ["add"] },
  ])("offers all tools and runs only the allowed ones: %o", async (choice) => {
    const { service, model } = await start([{ calls: calls("weather", "broken", "add") }, "Done."]);
    const response = await plain(service, { input: "Go", tools: [weather], ...choice });
    expect(response.status).toBe("completed");
    expect(inShort(response.output)).toEqual([
      "weather: ! Tool 'weather' is not allowed. The tools are: add.",
      "broken: ! Tool 'broken' is not allowed. The tools are: add.",
      "add: 3",
      "message: Done.",
    ]);
    expect(model.requests[0]?.tools).toHaveLength(4);
  });

  test("checks first what is allowed, also before the arguments", async () => {
    const { service } = await start([{ calls: [{ name: "add", arguments: "{" }] }, "Done."]);
    const response = await plain(service, { input: "Go", allowed_tools: ["broken"] });
    expect(inShort(response.output)[0]).toContain("is not allowed");
  });
});

test("a function of the client cannot have the name of a subtool, which the model would see twice", async () => {
  const house = tool({ name: "house", description: "House.", input: {}, registry: false }, async () => "");
  house.subtool({ name: "lamp", description: "Lamp.", input: {} }, async () => "on");
  const { service } = await start([{ calls: calls("house__lamp") }, "Lit."], { tools: [house] });
  const mine = { type: "function", name: "house__lamp", parameters: { type: "object" } };
  const body = { model: "test", input: "Go", tools: [mine] };
  await expect(service.prepare("ada", body)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("house__lamp"),
  });
  expect(inShort((await plain(service, { input: "Go" })).output)).toEqual([
    "house__lamp: on",
    "message: Lit.",
  ]);
});
