// The rules of the agentic loop, as a client and a model see them.

import { tool } from "rondo";
import { ModelServerError } from "rondo/errors";
import { describe, expect, test } from "vitest";
import type { ToolExecutor } from "../executor/executor.ts";
import { startScripted as start, toolMessages } from "./testkit/scripted.ts";
import { collector, lastResponse, never, plain, stream } from "./testkit/service.ts";
import { add, calls, inShort, weather } from "./testkit/tools.ts";

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

  test("of calls ends the run as incomplete, and runs the first calls up to it", async () => {
    const { service, model } = await start([
      { calls: calls("add") },
      { calls: calls("broken", "add", "broken") },
    ]);
    const response = await plain(service, { input: "Go", max_tool_calls: 3 });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_tool_calls" },
    });
    expect(inShort(response.output)).toEqual([
      "add: 3",
      "broken: ! The mainspring is broken.",
      "add: 3",
      "broken: ! limit reached: this call was not run",
    ]);
    expect(model.requests).toHaveLength(2);
  });

  test("of turns lets the server's calls run in a mixed last turn, which goes to the client anyway", async () => {
    const { service, model } = await start([{ calls: calls("weather", "add") }, "Sunny."]);
    const response = await plain(service, { input: "Go", tools: [weather], max_agentic_turns: 1 });
    expect(response.status).toBe("requires_action");
    expect(inShort(response.output)).toEqual(["add: 3", 'weather({"city":"Rome"})']);
    const call = response.output.find((item) => item.type === "function_call");
    const next = await plain(service, {
      previous_response_id: response.id,
      tools: [weather],
      input: [{ type: "function_call_output", call_id: call?.call_id, output: "sun" }],
    });
    expect(inShort(next.output)).toEqual(["message: Sunny."]);
    expect(toolMessages(model.requests[1]?.messages ?? []).map(({ content }) => content)).toEqual(
      expect.arrayContaining(["3", "sun"]),
    );
  });

  test("of calls holds in a mixed turn, and those of the client do not count", async () => {
    const { service } = await start([{ calls: calls("weather", "add", "add") }]);
    const response = await plain(service, { input: "Go", tools: [weather], max_tool_calls: 1 });
    expect(response.status).toBe("requires_action");
    expect(inShort(response.output)).toEqual([
      "add: 3",
      "add: ! limit reached: this call was not run",
      'weather({"city":"Rome"})',
    ]);
  });

  test("of repeats is the config's, and a call with another result is no repeat", async () => {
    let polls = 0;
    const poll = tool("poll", "Polls.", {}, () => {
      polls += 1;
      return `${polls}0%`;
    });
    const script = [...Array.from({ length: 4 }, () => ({ calls: calls("add", "poll") })), "Done."];
    const { service } = await start(script, { tools: [add, poll], maxRepeats: 2 });
    const { output } = await plain(service, { input: "Go" });
    expect(inShort(output).filter((it) => it.startsWith("poll"))).toEqual(
      ["10%", "20%", "30%", "40%"].map((it) => `poll: ${it}`),
    );
    expect(inShort(output).filter((it) => it.startsWith("add"))).toEqual([
      "add: 3",
      "add: 3",
      ...[0, 0].map(() => expect.stringContaining("made 2 times in a row with the same result")),
    ]);
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
        "add: ! limit reached: this call was not run. Answer now, without another call.",
        "message: As far as I know.",
      ]);
      // With other tools, the prompt would have another beginning.
      expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
      expect(model.requests[1]?.toolChoice).toBe("none");
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
      { content: expect.stringContaining(told.replace(/^.*! /, "")) },
    ]);
  });
});

describe("a model that fails", () => {
  const error = new ModelServerError({ endpoint: "http://127.0.0.1", status: 500, said: "out of memory" });
  // Owners do not learn where a model server is.
  const message = error.message.replace("http://127.0.0.1", "(hidden)");

  test("is an error of a plain request, and the response is kept as failed", async () => {
    const { service } = await start([
      { calls: calls("add"), usage: tokens(10, 5) },
      { text: "Half", error },
    ]);
    const prepared = await service.prepare("ada", { model: "test", input: "Go" });
    await expect(service.runPlain(prepared, never)).rejects.toMatchObject({
      status: 502,
      message,
    });
    const kept = await service.get("ada", prepared.id);
    expect(kept).toMatchObject({
      status: "failed",
      error: { type: "server_error", message },
      usage: { estimated: true },
    });
    // Of the answer that broke off, nobody reports the tokens.
    expect(kept.usage?.output_tokens).toBeGreaterThan(5);
    expect(kept.usage?.input_tokens).toBeGreaterThan(10);
    expect(inShort(kept.output)).toEqual(["add: 3", "message: Half"]);
    expect(kept.output[1]).toMatchObject({ status: "incomplete" });
  });

  test("costs nothing that is known if its answer never began", async () => {
    const { service } = await start([{ calls: calls("add"), usage: tokens(10, 5) }, { error }]);
    const { response } = await stream(service, { input: "Go" });
    expect(response.status).toBe("failed");
    expect(response.usage?.total_tokens).toBe(15);
    expect(response.usage).not.toHaveProperty("estimated");
  });

  test("is the end of a stream: an error, and a failed response", async () => {
    const { service } = await start([{ error }]);
    const { events, response } = await stream(service, { input: "Go" });
    expect(events.slice(-2)).toMatchObject([
      { type: "error", message, error: { message } },
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

test("the server `local` narrows the tools of the config", async () => {
  const { service, model } = await start([{ calls: calls("broken") }, "Done."]);
  const only = { type: "mcp", server_label: "local", allowed_tools: ["add"] };
  const response = await plain(service, { input: "Go", tools: [only] });
  expect(model.requests[0]?.tools?.map((it) => it.function.name)).toEqual(["add"]);
  expect(inShort(response.output)[0]).toContain("Tool 'broken' not found");
});
