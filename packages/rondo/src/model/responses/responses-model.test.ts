import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Client } from "../../client/client.ts";
import {
  AnswerLimitError,
  BrokenStreamError,
  ModelConnectionError,
  ModelIdleTimeoutError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "../../error/model-errors.ts";
import { ModelAuthError, ModelNotFoundError, ModelRateLimitError } from "../../error/model-http-errors.ts";
import { tool } from "../../tool/define.ts";
import { ChatAnswer } from "../chat-answer.ts";
import type { ModelDelta, ModelRequest } from "../provider.ts";
import { ResponseReader } from "./response-reader.ts";
import { type ResponsesModelOptions, responsesModel } from "./responses-model.ts";
import {
  type Answer,
  call,
  framed,
  message,
  startResponsesServer,
  stream,
} from "./testkit/responses-server.ts";

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };
const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);

async function ask(url: string, options: ResponsesModelOptions = {}, request = hello) {
  const deltas: ModelDelta[] = [];
  try {
    const model = responsesModel(url, { model: "m", retry: false, ...options });
    for await (const delta of model.stream(request)) deltas.push(delta);
    return { deltas, error: undefined };
  } catch (error) {
    return { deltas, error: error as Error };
  }
}

async function answers(answer: Answer, options: ResponsesModelOptions = {}) {
  const { url } = await startResponsesServer([answer]);
  return ask(url, options);
}

describe("a request", () => {
  test("has the conversation as items, the tools as functions, and the settings", async () => {
    const { url, requests } = await startResponsesServer([stream(message(["Fine."]))]);
    const schema = { type: "object" } as const;
    await ask(
      `${url}/responses`,
      { apiKey: "secret", headers: { "x-team": "blue" } },
      {
        messages: [
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "Look:" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
            ],
          },
          {
            role: "assistant",
            content: "So.",
            reasoning: "Hm.",
            tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,' } }],
          },
          { role: "tool", tool_call_id: "c1", name: "add", content: "3" },
          { role: "system", content: "Now in verse." },
        ],
        tools: [add.toOpenAI()],
        toolChoice: { name: "add" },
        output: { name: "sum", schema },
        settings: { temperature: 0.5, topP: 0.9, maxTokens: 100, extraBody: { truncation: "auto" } },
      },
    );
    expect(requests[0]).toMatchObject({
      path: "/v1/responses",
      headers: { authorization: "Bearer secret", "x-team": "blue" },
    });
    expect(requests[0]?.body).toEqual({
      model: "m",
      stream: true,
      store: false,
      instructions: "Be brief.",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "Look:" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "low" },
          ],
        },
        { type: "message", role: "assistant", content: "So." },
        { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "3" },
        { type: "message", role: "system", content: "Now in verse." },
      ],
      tools: [{ type: "function", ...add.toOpenAI().function, strict: false }],
      tool_choice: { type: "function", name: "add" },
      text: { format: { type: "json_schema", name: "sum", schema, strict: true } },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      truncation: "auto",
    });
  });

  test("has the instructions of extraBody", async () => {
    const { url, requests } = await startResponsesServer([stream(message(["Hi."]))]);
    const settings = { extraBody: { instructions: "Be brief." } };
    await ask(url, {}, { ...hello, settings });
    expect(requests[0]?.body["instructions"]).toBe("Be brief.");
  });

  test("names no model where none is given, and sends thoughts back where the profile says so", async () => {
    const { url, requests } = await startResponsesServer([stream([])]);
    await ask(
      url,
      { model: undefined, profile: { sendReasoning: "reasoning" } },
      { messages: [...hello.messages, { role: "assistant", content: "", reasoning: "Hm." }] },
    );
    expect(requests[0]?.body).not.toHaveProperty("model");
    expect(requests[0]?.body["input"]).toContainEqual({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm." }],
    });
  });

  test.each([
    ["settings that the API lacks", { settings: { stop: ["."] } }, "settings.stop"],
    ["a choice of no tool", { toolChoice: "required" as const }, "toolChoice"],
    ["no messages", { messages: [] }, "messages"],
  ])("is refused at once with %s", (_, fields, expected) => {
    const model = responsesModel("http://127.0.0.1:1/v1");
    expect(() => model.stream({ ...hello, ...fields })).toThrow(expected);
  });

  test.each([
    ["a URL that is none", () => responsesModel("localhost"), "baseURL"],
    ["an unknown option", () => responsesModel("http://a", { stroe: true } as object), "stroe"],
    [
      "a decision that is no function",
      () => responsesModel("http://a", { approve: true } as object),
      "approve",
    ],
  ])("is not made from %s", (_, make, expected) => {
    expect(make).toThrow(expected);
  });
});

describe("a stream", () => {
  test("becomes text, thinking, calls, and a reason with the usage", async () => {
    const at = { item_id: "rs_0", output_index: 0 };
    const { deltas } = await answers(
      stream([
        { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: "First." },
        { type: "response.reasoning_summary_text.delta", ...at, summary_index: 1, delta: "Second." },
        { type: "response.reasoning_text.delta", ...at, content_index: 0, delta: "Hm." },
        ...message(["Let me ", "see."], 1),
        ...call("add", ['{"a":1,', '"b":2}'], 2),
        { type: "keepalive" },
        ...call("now", [], 3),
      ]),
    );
    expect(deltas).toEqual([
      { type: "thinking.delta", text: "First.\n\nSecond." },
      { type: "text.delta", text: "Let me see." },
      { type: "call.started", id: "call_2", name: "add" },
      { type: "call.delta", id: "call_2", text: '{"a":1,' },
      { type: "call.delta", id: "call_2", text: '"b":2}' },
      { type: "call.ended", id: "call_2", name: "add", arguments: '{"a":1,"b":2}', isTruncated: false },
      { type: "call.started", id: "call_3", name: "now" },
      { type: "call.ended", id: "call_3", name: "now", arguments: "", isTruncated: false },
      { type: "finished", finishReason: "tool_calls", usage },
    ]);
  });

  test("of whole items, or an answer that came all at once, gives the same", async () => {
    const output = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], content: null },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "So." }] },
      { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      { type: "function_call", call_id: "c", name: "add", arguments: "{}" },
    ];
    const items = output.map((item, output_index) => ({
      type: "response.output_item.done",
      output_index,
      item,
    }));
    const expected = [
      { type: "thinking.delta", text: "Hm." },
      { type: "text.delta", text: "So.\n\nNo." },
      { type: "call.started", id: "c", name: "add" },
      { type: "call.delta", id: "c", text: "{}" },
      { type: "call.ended", id: "c", name: "add", arguments: "{}", isTruncated: false },
      { type: "finished", finishReason: "tool_calls", usage: undefined },
    ];
    expect((await answers(stream(items, { usage: null }))).deltas).toEqual(expected);
    const whole = JSON.stringify({ object: "response", status: "completed", output, error: null });
    expect((await answers(whole)).deltas).toEqual(expected);
  });

  test.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content_filter"],
    ["max_agentic_turns", "unknown"],
  ])("that ends with %s ends with '%s'", async (reason, expected) => {
    const ending = { status: "incomplete", incomplete_details: { reason } };
    const { deltas } = await answers(stream(message(["Half"]), ending, "response.incomplete"));
    expect(deltas.at(-1)).toMatchObject({ type: "finished", finishReason: expected });
  });

  test("that the length limit ends in a call says that the call is truncated", async () => {
    const [added, first] = call("add", ['{"a":', "1}"]);
    const ending = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    const { deltas } = await answers(stream([added ?? {}, first ?? {}], ending, "response.incomplete"));
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", isTruncated: true }));
  });

  test("passes on what the server does itself, and never as a call of the client's", async () => {
    const item = { type: "mcp_call", id: "mcp_0", name: "clock", arguments: "{}" };
    const events = [
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.mcp_call_arguments.done", output_index: 0, item_id: "mcp_0", arguments: "{}" },
      { type: "response.output_item.done", output_index: 0, item: { ...item, output: "12:00" } },
    ];
    const { deltas } = await answers(stream([...events, ...message(["Noon."], 1)]));
    expect(deltas.map(({ type }) => type)).toEqual([
      ...events.map(() => "server.event"),
      "text.delta",
      "finished",
    ]);
    expect(deltas[2]).toEqual({ type: "server.event", event: events[2] });
    const { url } = await startResponsesServer([stream([...events, ...message(["Noon."], 1)])]);
    const client = new Client({ model: responsesModel(url) });
    await client.query("What time is it?");
    const blocks = await Array.fromAsync(client.receiveMessages());
    expect(blocks.map(({ type }) => type)).toEqual([...events.map(() => "server_event"), "text"]);
  });

  test("gives the same deltas however its bytes are split", () => {
    const bytes = new TextEncoder().encode(
      framed(stream([...message(["Größe ", "🎉\n", "42"]), ...call("add", ['{"a":"é"', "}"], 1)])),
    );
    const read = (pieces: readonly Uint8Array[]) => {
      const deltas: ModelDelta[] = [];
      const push = (delta: ModelDelta) => deltas.push(delta);
      const answer = new ChatAnswer({ endpoint: "here", createReader: () => new ResponseReader(9), push });
      for (const piece of pieces) answer.read(piece);
      answer.end();
      return merged(deltas);
    };
    const expected = read([bytes]);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (given) => {
        const at = [0, ...given.toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(read(pieces)).toEqual(expected);
      }),
    );
  });
});

/** Text that follows text as one: how much of it comes at once depends on the network. */
function merged(deltas: readonly ModelDelta[]): ModelDelta[] {
  const all: ModelDelta[] = [];
  for (const delta of deltas) {
    const last = all.at(-1);
    if (delta.type === "text.delta" && last?.type === "text.delta")
      all[all.length - 1] = { type: "text.delta", text: last.text + delta.text };
    else all.push(delta);
  }
  return all;
}

describe("a stream of a server with faults of its own", () => {
  const callAt0 = (id: string, input: string) =>
    call("add", [input]).map((event) =>
      JSON.parse(JSON.stringify(event).replaceAll("fc_0", `fc_${id}`).replaceAll("call_0", `call_${id}`)),
    ) as object[];
  const one = callAt0("1", '{"a":1}');
  const two = callAt0("2", '{"a":2}');

  test.each([
    ["one after the other", [...one, ...two]],
    ["at the same time", one.flatMap((event, at) => [event, ...two.slice(at, at + 1)])],
    ["only when they are done", [...one.slice(-1), ...two.slice(-1)]],
  ])("keeps two calls with one output_index apart: %s", async (_when, events) => {
    const { deltas } = await answers(stream(events));
    expect(deltas.filter(({ type }) => type === "call.ended")).toEqual([
      { type: "call.ended", id: "call_1", name: "add", arguments: '{"a":1}', isTruncated: false },
      { type: "call.ended", id: "call_2", name: "add", arguments: '{"a":2}', isTruncated: false },
    ]);
  });

  test("has one call, though each event gives its item another id", async () => {
    const events = one.map(
      (event, at) => JSON.parse(JSON.stringify(event).replaceAll("fc_1", `fc_${at}`)) as object,
    );
    const { deltas } = await answers(stream(events));
    expect(deltas.filter(({ type }) => type === "call.ended")).toMatchObject([{ arguments: '{"a":1}' }]);
  });

  test("takes arguments that are an object", async () => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: { a: 1 } };
    const { deltas } = await answers(stream([{ type: "response.output_item.done", output_index: 0, item }]));
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", arguments: '{"a":1}' }));
  });

  test("reads the output of the last event where no item had events", async () => {
    const content = [{ type: "output_text", text: "Hi." }];
    const output = [
      { type: "message", id: "msg_1", role: "assistant", content },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a":1}' },
    ];
    const { deltas } = await answers(stream([], { output }));
    expect(deltas).toContainEqual({ type: "text.delta", text: "Hi." });
    expect(deltas).toContainEqual(expect.objectContaining({ type: "call.ended", arguments: '{"a":1}' }));
    expect((await answers(stream(message(["Hi."]), { output }))).deltas).toHaveLength(2);
  });
});

describe("fails with", () => {
  const failed = { status: "failed", error: { code: "server_error", message: "It is broken." } };

  test.each([
    ["a response that failed", stream(message(["Half"]), failed, "response.failed")],
    ["an error event", [...message(["Half"]), { type: "error", code: "x", message: "It is broken." }]],
  ])("a ReportedStreamError for %s, after what had come", async (_, events) => {
    const { deltas, error } = await answers(events);
    expect(error).toBeInstanceOf(ReportedStreamError);
    expect(error).toMatchObject({ said: "It is broken", partialText: "Half" });
    expect(deltas).toEqual([{ type: "text.delta", text: "Half" }]);
  });

  test("a BrokenStreamError for a stream without its end, and its calls are truncated", async () => {
    const events = stream([...message(["Half"]), ...call("add", ['{"a":1'], 1).slice(0, 2)]).slice(0, -1);
    const { deltas, error } = await answers(events);
    expect(error).toBeInstanceOf(BrokenStreamError);
    expect(deltas.at(-1)).toMatchObject({ type: "call.ended", isTruncated: true });
    expect((await answers(`${framed(events)}data: [DONE]\n\n`)).error).toBeInstanceOf(BrokenStreamError);
  });

  test.each([
    ["ModelAuthError", ModelAuthError, 401],
    ["ModelNotFoundError", ModelNotFoundError, 404],
    ["ModelRateLimitError", ModelRateLimitError, 429],
  ])("a %s for that status", async (_, Expected, status) => {
    const body = JSON.stringify({ error: { message: `No: secret-key. ${"x".repeat(100_000)}` } });
    const { error } = await answers((response) => response.writeHead(status).end(body), {
      apiKey: "secret-key",
    });
    expect(error).toBeInstanceOf(Expected);
    expect(error?.message).not.toContain("secret-key");
    expect(error?.message.length).toBeLessThan(1000);
  });

  test.each([
    ["a web page", "<html></html>", UnexpectedAnswerError],
    ["a chat completion", '{"choices":[]}', UnexpectedAnswerError],
  ])("an UnexpectedAnswerError for %s", async (_, body, Expected) => {
    expect((await answers(body)).error).toBeInstanceOf(Expected);
  });

  test("a ModelConnectionError where nobody listens", async () => {
    expect((await ask("http://127.0.0.1:1/v1")).error).toBeInstanceOf(ModelConnectionError);
  });

  test("an AnswerLimitError beyond maxAnswerBytes and maxCallsPerAnswer", async () => {
    const long = stream(message(["x".repeat(10_000)]));
    const large = await answers(long, { maxAnswerBytes: 5000 });
    expect(large.error).toBeInstanceOf(AnswerLimitError);
    const calls = stream([1, 2, 3].flatMap((index) => call("add", ["{}"], index)));
    const many = await answers(calls, { maxCallsPerAnswer: 2 });
    expect(many.error).toMatchObject({ limit: "maxCallsPerAnswer" });
    expect(many.deltas.filter(({ type }) => type === "finished")).toEqual([]);
  });

  test("a ModelIdleTimeoutError when the server falls silent", async () => {
    const { error } = await answers((response) => response.write(framed(message(["Half"]))), {
      idleTimeoutMs: 50,
    });
    expect(error).toBeInstanceOf(ModelIdleTimeoutError);
  });
});

test("nested JSON that would overflow a stack is skipped", async () => {
  const deep = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  const event = `data: {"type":"response.output_item.done","item":{"type":"odd","x":${deep}}}\n\n`;
  const { deltas, error } = await answers(`${event}${framed(stream(message(["Fine."])))}`);
  expect(error).toBeUndefined();
  expect(deltas.map(({ type }) => type)).toEqual(["text.delta", "finished"]);
});

test("a server that fails before its answer is asked again", async () => {
  const { url, requests } = await startResponsesServer([
    (response) => response.writeHead(503).end(),
    stream(message(["Fine."])),
  ]);
  const { deltas } = await ask(url, { retry: { delayMs: 1 } });
  expect(deltas.map(({ type }) => type)).toEqual(["warning", "text.delta", "finished"]);
  expect(requests).toHaveLength(2);
});

test("leaving the stream closes the connection", async () => {
  const { url, requests } = await startResponsesServer([
    (response) => response.write(framed(message(["Half"]))),
  ]);
  for await (const { type } of responsesModel(url).stream(hello)) if (type === "text.delta") break;
  await expect(requests[0]?.closed).resolves.toBeUndefined();
});

describe("with store", () => {
  const options = { store: true, model: "m" };
  const ids = (requests: readonly { body: Record<string, unknown> }[]) =>
    requests.map(({ body }) => [body["previous_response_id"], (body["input"] as unknown[]).length]);

  test("a conversation of an earlier process goes on from its last response", async () => {
    const { url, requests } = await startResponsesServer([
      stream(message(["Two."]), { id: "resp_2" }),
      stream(message(["Three."]), { id: "resp_3" }),
    ]);
    const messages = [
      { role: "user", content: "a" } as const,
      { role: "assistant", content: "One." } as const,
    ];
    const model = responsesModel(url, { ...options, continues: { responseId: "resp_1", messages } });
    const client = new Client({ model, systemPrompt: "Be brief." });
    client.messageHistory = messages;
    for (const prompt of ["b", "c"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(ids(requests)).toEqual([
      ["resp_1", 1],
      ["resp_2", 1],
    ]);
  });

  test("each request sends only what is new, with the instructions", async () => {
    const { url, requests } = await startResponsesServer([
      stream([...message(["So."]), ...call("add", ['{"a":25, "b":17}'], 1)], { id: "resp_1" }),
      stream(message(["42."]), { id: "resp_2" }),
      stream(message(["Bye."]), { id: "resp_3" }),
    ]);
    const client = new Client({
      model: responsesModel(url, options),
      tools: [add],
      autoExecuteTools: true,
      systemPrompt: "Be brief.",
    });
    for (const prompt of ["What is 25 + 17?", "Bye!"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(ids(requests)).toEqual([
      [undefined, 1],
      ["resp_1", 1],
      ["resp_2", 1],
    ]);
    expect(requests[1]?.body).toMatchObject({
      instructions: "Be brief.",
      input: [{ type: "function_call_output", call_id: "call_1", output: "42" }],
    });
  });

  test("another conversation, or a changed one, is sent whole", async () => {
    const { url, requests } = await startResponsesServer([
      stream(message(["One."]), { id: "resp_1" }),
      stream(message(["Two."])),
      stream(message(["Three."])),
    ]);
    const model = responsesModel(url, options);
    const first = { role: "user", content: "Hi" } as const;
    const say = async (...messages: ModelRequest["messages"]) => {
      for await (const _ of model.stream({ messages }));
    };
    await say(first);
    await say({ ...first, content: "Ho" }, { role: "assistant", content: "One." }, first);
    await say(first, { role: "assistant", content: "Won." }, first);
    expect(ids(requests)).toEqual([
      [undefined, 1],
      [undefined, 3],
      [undefined, 3],
    ]);
  });

  test("a response that the server has lost is replaced by the whole conversation", async () => {
    const lost = JSON.stringify({ error: { code: "previous_response_not_found", message: "Gone." } });
    const { url, requests } = await startResponsesServer([
      stream(message(["One."]), { id: "resp_1" }),
      (response) => response.writeHead(404).end(lost),
      stream(message(["Two."]), { id: "resp_2" }),
    ]);
    const client = new Client({ model: responsesModel(url, options) });
    for (const prompt of ["Hi", "Again"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(client.result?.text).toBe("Two.");
    expect(ids(requests)).toEqual([
      [undefined, 1],
      ["resp_1", 1],
      [undefined, 3],
    ]);
  });
});

describe("a call that the server wants approved", () => {
  const item = {
    type: "mcp_approval_request",
    id: "mcpr_1",
    server_label: "bank",
    name: "pay",
    arguments: "{}",
  };
  const asking = stream(
    [...message(["May I?"]), { type: "response.output_item.done", output_index: 1, item }],
    {
      id: "resp_1",
      output: [item],
    },
  );
  const paid = stream(message(["Paid."]), { id: "resp_2" });
  const allowed = { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true };

  test.each([
    ["with the whole conversation", false, undefined, 3],
    ["from the stored response", true, "resp_1", 1],
  ])("goes on when it is decided, %s", async (_, store, previous, length) => {
    const { url, requests } = await startResponsesServer([asking, paid]);
    const asked: unknown[] = [];
    const responses: unknown[] = [];
    const { deltas } = await ask(url, {
      store,
      approve: async (request) => asked.push(request) > 0,
      onResponse: ({ id }) => responses.push(id),
    });
    expect(asked).toEqual([{ id: "mcpr_1", serverLabel: "bank", name: "pay", arguments: "{}" }]);
    expect(requests[1]?.body["previous_response_id"]).toBe(previous);
    const input = requests[1]?.body["input"] as unknown[];
    expect([input.length, input.at(-1)]).toEqual([length, allowed]);
    expect(deltas.filter(({ type }) => type !== "server.event")).toEqual([
      { type: "text.delta", text: "May I?" },
      { type: "text.delta", text: "\n\nPaid." },
      {
        type: "finished",
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 14, totalTokens: 24 },
      },
    ]);
    expect(responses).toEqual(["resp_1", "resp_2"]);
  });

  test("ends the answer where nobody decides", async () => {
    const { url, requests } = await startResponsesServer([asking]);
    const { deltas } = await ask(url);
    expect(deltas.at(-1)).toMatchObject({ type: "finished", finishReason: "stop" });
    expect(requests).toHaveLength(1);
  });
});
