// The rules of the agentic loop, as a client and a model see them.

import { type Message, ModelServerError, tool } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ToolExecutor } from "../executor/executor.ts";
import type { OutputItem } from "../protocol/items.ts";
import {
  collector,
  lastResponse,
  never,
  plain,
  type ServiceSetup,
  startService,
  stream,
} from "./testkit/service.ts";
import { add, broken, calls, inShort, slow, weather } from "./testkit/tools.ts";

async function start(script: ScriptedStep | readonly ScriptedStep[], setup: Partial<ServiceSetup> = {}) {
  const model = scriptedModel(script);
  const service = await startService({ model, tools: [add, broken, slow], ...setup });
  onTestFinished(async () => {
    await service.drain(0);
    model.assertUsedUp();
  });
  return { model, service };
}

const ids = (output: readonly OutputItem[]) =>
  output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
const toolMessages = (messages: readonly Message[]) => messages.filter((message) => message.role === "tool");

describe("a limit", () => {
  test("of turns ends the run as incomplete after exactly so many answers, every call answered", async () => {
    const { service, model } = await start([{ calls: calls("add") }, { calls: calls("broken", "add") }]);
    const response = await plain(service, { input: "Go", max_agentic_turns: 2 });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_agentic_turns" },
      error: null,
    });
    expect(model.requests).toHaveLength(2);
    expect(inShort(response.output)).toEqual([
      "add: 3",
      "broken: ! limit reached: this call was not run",
      "add: ! limit reached: this call was not run",
    ]);
    const next = await service.prepare("ada", {
      model: "test",
      previous_response_id: response.id,
      input: "And?",
    });
    expect(toolMessages(next.planned.plan.messages)).toHaveLength(3);
  });

  test("of the server holds where the request wants more", async () => {
    const { service, model } = await start({ calls: calls("add") }, { maxAgenticTurns: 1 });
    expect(await plain(service, { input: "Go", max_agentic_turns: 5 })).toMatchObject({
      status: "incomplete",
    });
    expect(model.requests).toHaveLength(1);
  });

  test("of calls ends the run as incomplete, and runs none of the calls that are too many", async () => {
    const { service, model } = await start([{ calls: calls("add") }, { calls: calls("add", "broken") }]);
    const response = await plain(service, { input: "Go", max_tool_calls: 2 });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_tool_calls" },
    });
    expect(inShort(response.output)).toEqual([
      "add: 3",
      "add: ! limit reached: this call was not run",
      "broken: ! limit reached: this call was not run",
    ]);
    expect(model.requests).toHaveLength(2);
  });

  test.each([{ max_agentic_turns: 1 }, { max_tool_calls: 0 }])(
    "%o can end in a final answer",
    async (limit) => {
      const { service, model } = await start([{ calls: calls("add") }, "As far as I know."], {
        asksForFinalAnswer: true,
      });
      const response = await plain(service, { input: "Go", tool_choice: "required", ...limit });
      expect(response).toMatchObject({ status: "completed", incomplete_details: null });
      expect(inShort(response.output)).toEqual([
        "add: ! limit reached: this call was not run",
        "message: As far as I know.",
      ]);
      expect(model.requests[1]).not.toHaveProperty("tools");
      expect(model.requests[1]).not.toHaveProperty("toolChoice");
    },
  );

  test("of tokens ends the run as incomplete, with the text so far", async () => {
    const { service, model } = await start([{ text: "Half of", finishReason: "length" }], { tools: [] });
    const response = await plain(service, { input: "Go", max_output_tokens: 16 });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ type: "message", status: "incomplete" }],
    });
    expect(model.requests[0]?.settings).toMatchObject({ maxTokens: 16 });
  });
});

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

describe("the calls of a turn", () => {
  /** Tools that note when they begin and end, and that wait for each other if `isTogether`. */
  function pair(isTogether: boolean) {
    const notes: string[] = [];
    const both = Promise.withResolvers<void>();
    const tools = ["one", "two"].map((name) =>
      tool({ name, description: name, input: {}, registry: false }, async () => {
        notes.push(`${name} begins`);
        if (notes.length === 2) both.resolve();
        await (isTogether ? both.promise : new Promise((resolve) => setImmediate(resolve)));
        notes.push(`${name} ends`);
        return name;
      }),
    );
    return { notes, tools };
  }

  test("run at the same time", async () => {
    const { notes, tools } = pair(true);
    const { service, model } = await start([{ calls: calls("one", "two") }, "Done."], { tools });
    await plain(service, { input: "Go" });
    expect(notes.slice(0, 2)).toEqual(["one begins", "two begins"]);
    expect(toolMessages(model.requests[1]?.messages ?? []).map(({ content }) => content)).toEqual([
      "one",
      "two",
    ]);
    expect(model.requests[0]?.settings?.extraBody ?? {}).not.toHaveProperty("parallel_tool_calls");
  });

  test("run one by one if the request says so, and the model is told", async () => {
    const { notes, tools } = pair(false);
    const { service, model } = await start([{ calls: calls("one", "two") }, "Done."], { tools });
    await plain(service, { input: "Go", parallel_tool_calls: false });
    expect(notes).toEqual(["one begins", "one ends", "two begins", "two ends"]);
    expect(model.requests[0]?.settings?.extraBody).toEqual({ parallel_tool_calls: false });
  });
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

describe("a call that goes wrong", () => {
  test.each([
    ["to a tool that nobody knows", calls("nobody"), "nobody: ! Tool 'nobody' not found in registry."],
    ["with wrong arguments", [{ name: "add", input: { a: "x", b: 1 } }], "add: ! "],
    ["to a tool that throws", calls("broken"), "broken: ! The mainspring is broken."],
    ["to a tool that takes too long", calls("slow"), "slow: ! "],
  ])("%s is told to the model, which is asked again", async (_name, made, told) => {
    const { service, model } = await start([{ calls: made }, "Sorry."]);
    const response = await plain(service, { input: "Go" });
    expect(response.status).toBe("completed");
    expect(response.output[0]).toMatchObject({ type: "mcp_call", status: "failed", output: null });
    expect(inShort(response.output)[0]).toContain(told);
    expect(toolMessages(model.requests[1]?.messages ?? [])).toMatchObject([
      { content: expect.stringContaining('"error"') },
    ]);
  });
});

describe("a model that fails", () => {
  const error = new ModelServerError({ endpoint: "http://127.0.0.1", status: 500, said: "out of memory" });

  test("is an error of a plain request, and the response is kept as failed", async () => {
    const { service } = await start([
      { calls: calls("add"), usage: tokens(10, 5) },
      { text: "Half", error },
    ]);
    const prepared = await service.prepare("ada", { model: "test", input: "Go" });
    await expect(service.runPlain(prepared, never)).rejects.toMatchObject({
      status: 502,
      message: error.message,
    });
    const kept = await service.get("ada", prepared.id);
    expect(kept).toMatchObject({
      status: "failed",
      error: { type: "server_error", message: error.message },
      usage: { total_tokens: 15 },
    });
    expect(inShort(kept.output)).toEqual(["add: 3", "message: Half"]);
    expect(kept.output[1]).toMatchObject({ status: "incomplete" });
  });

  test("is the end of a stream: an error, and a failed response", async () => {
    const { service } = await start([{ error }]);
    const { events, response } = await stream(service, { input: "Go" });
    expect(events.slice(-2)).toMatchObject([
      { type: "error", message: error.message, error: { message: error.message } },
      { type: "response.failed" },
    ]);
    expect(response).toMatchObject({ status: "failed", usage: { total_tokens: 0 } });
  });
});

test("a client that goes away cancels its run, and the tool that runs for it", async () => {
  const leaving = new AbortController();
  let reason: unknown;
  const waiting = tool(
    { name: "waiting", description: "Waits.", input: {}, registry: false },
    async (_input, { signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      leaving.abort(new Error("gone"));
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    },
  );
  const { service } = await start([{ text: "A moment", calls: calls("waiting") }], { tools: [waiting] });
  const prepared = await service.prepare("ada", { model: "test", input: "Go", stream: true });
  const sink = collector();
  await service.runStreamed(prepared, sink, leaving.signal);
  expect(reason).toBeDefined();
  expect(lastResponse(sink.events)).toMatchObject({ status: "cancelled" });
  expect(sink.events.at(-1)?.type).toBe("response.incomplete");
  const kept = await service.get("ada", prepared.id);
  expect(kept).toMatchObject({ status: "cancelled", incomplete_details: { reason: "cancelled" } });
  expect(kept.output).toMatchObject([{ type: "message" }, { type: "mcp_call", status: "failed" }]);
});

const tokens = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  cachedTokens: 1,
  reasoningTokens: 2,
});

describe("usage", () => {
  test("is summed over all turns", async () => {
    const { service } = await start([
      { calls: calls("add"), usage: tokens(10, 5) },
      { text: "Done.", usage: tokens(20, 7) },
    ]);
    expect((await plain(service, { input: "Go" })).usage).toEqual({
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 2 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 42,
    });
  });

  test("is estimated where the server tells nothing", async () => {
    const { service } = await start([
      { calls: calls("add"), usage: tokens(10, 5) },
      "A few words at the end.",
    ]);
    const { usage } = await plain(service, { input: "Go" });
    expect(usage?.input_tokens).toBeGreaterThan(10);
    expect(usage?.output_tokens).toBeGreaterThan(5);
    expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0));
  });
});

test("a turn goes back to the model as one message, in this response and in the next", async () => {
  const { service, model } = await start([
    { thinking: ["Hm", "m."], text: ["A ", "moment"], calls: calls("add", "broken") },
    { thinking: "So.", text: "Three." },
    "Bye.",
  ]);
  const first = await plain(service, { input: "Go", instructions: "Be kind." });
  await plain(service, { input: "Thanks", previous_response_id: first.id, instructions: "Be brief." });
  const turn = { role: "assistant", content: "A moment", reasoning: "Hmm.", tool_calls: [{}, {}] };
  expect(model.requests[1]?.messages).toMatchObject([
    { role: "system", content: "Be kind." },
    { role: "user", content: "Go" },
    turn,
    { role: "tool", content: "3" },
    { role: "tool" },
  ]);
  expect(model.requests[2]?.messages).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Go" },
    turn,
    { role: "tool", content: "3" },
    { role: "tool", content: "The mainspring is broken." },
    { role: "assistant", content: "Three.", reasoning: "So." },
    { role: "user", content: "Thanks" },
  ]);
});

describe("an executor of the config", () => {
  const executor = (rest: Partial<ToolExecutor>): ToolExecutor => ({
    kind: "own",
    canExecute: ({ name, type }) => name === "search" || type === "web_search",
    execute: async (call, { owner }) => ({ callId: call.id, output: `${owner} searched ${call.arguments}` }),
    ...rest,
  });
  const search = { type: "function", name: "search", parameters: { type: "object" } };

  test("runs a function of the request, as a call of its own server", async () => {
    const { service } = await start([{ calls: [{ name: "search", input: { q: "x" } }] }, "Found."], {
      executors: [executor({})],
    });
    const response = await plain(service, { input: "Go", tools: [search] });
    expect(response.output[0]).toMatchObject({ type: "mcp_call", server_label: "own", name: "search" });
    expect(inShort(response.output)).toEqual(['search: ada searched {"q":"x"}', "message: Found."]);
  });

  test("runs another type of tool as it describes it", async () => {
    const describe = () => ({ name: "find", description: "Finds.", parameters: { type: "object" } as const });
    const { service, model } = await start([{ calls: calls("find") }, "Found."], {
      executors: [executor({ describe })],
    });
    const response = await plain(service, { input: "Go", tools: [{ type: "web_search" }] });
    expect(inShort(response.output)).toEqual(["find: ada searched {}", "message: Found."]);
    expect(model.requests[0]?.tools?.[0]).toMatchObject({
      function: { name: "find", description: "Finds." },
    });
  });

  test.each([
    ["throws", { execute: () => Promise.reject(new Error("No net.")) }, "search: ! No net."],
    [
      "says so",
      { execute: async () => ({ callId: "", output: "Nothing there.", isError: true }) },
      "search: ! Nothing there.",
    ],
    ["takes too long", { timeoutMs: 5, execute: () => new Promise<never>(() => {}) }, "search: ! "],
  ])("that %s is an error for the model", async (_name, rest, expected) => {
    const { service } = await start([{ calls: calls("search") }, "Sorry."], { executors: [executor(rest)] });
    const response = await plain(service, { input: "Go", tools: [search] });
    expect(response.status).toBe("completed");
    expect(inShort(response.output)[0]).toContain(expected);
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

test("the server `local` narrows the tools of the config", async () => {
  const { service, model } = await start([{ calls: calls("broken") }, "Done."]);
  const only = { type: "mcp", server_label: "local", allowed_tools: ["add"] };
  const response = await plain(service, { input: "Go", tools: [only] });
  expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(["add"]);
  expect(inShort(response.output)[0]).toContain("Tool 'broken' not found");
});
