import { describe, expect, test } from "vitest";
import {
  AnswerLimitError,
  BrokenStreamError,
  ModelConnectionError,
  ModelIdleTimeoutError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "../../error/model-errors.ts";
import { ModelAuthError, ModelNotFoundError, ModelRateLimitError } from "../../error/model-http-errors.ts";
import { responsesModel } from "./responses-model.ts";
import { answers, ask, hello } from "./testkit/ask-model.ts";
import { call, framed, message, startResponsesServer, stream } from "./testkit/responses-server.ts";

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
