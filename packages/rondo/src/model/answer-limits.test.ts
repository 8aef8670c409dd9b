import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { AnswerLimitError, type ModelError } from "../error/model-errors.ts";
import { type ServerStep, sseFrame, startModelServer } from "../testing/index.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import { chatForwarder } from "./chat-forwarder.ts";
import type { ModelDelta } from "./provider.ts";

const maxAnswerBytes = 200_000;
const messages = [{ role: "user", content: "Hello!" }] as const;
const tools = [
  { type: "function", function: { name: "add", description: "Adds.", parameters: { type: "object" } } },
] as const;

/** A server that sends `head` and then `piece` for ever. Tells when its socket was closed. */
async function serveForever(head: string, piece: string, isPacked = false) {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const server = createServer((_, response: ServerResponse) => {
    response.once("close", resolve);
    response.writeHead(200, isPacked ? { "content-encoding": "gzip" } : {});
    const pieces = Readable.from(
      (function* () {
        yield head;
        for (;;) yield piece;
      })(),
    );
    response.once("close", () => pieces.destroy());
    (isPacked ? pieces.pipe(createGzip()) : pieces).pipe(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, closed };
}

async function ask(baseURL: string, options: OpenAICompatibleOptions = {}, wholeAnswer = false) {
  const model = openaiCompatible({ baseURL, model: "m", retry: false, ...options });
  const deltas: ModelDelta[] = [];
  try {
    for await (const delta of model.stream({ messages, tools, wholeAnswer })) deltas.push(delta);
  } catch (error) {
    return { deltas, error: error as ModelError };
  }
  return { deltas, error: undefined };
}

const chunk = (delta: object) => sseFrame({ choices: [{ index: 0, delta }] });
const x = "x".repeat(10_000);
const call = (i: number) => ({
  index: i,
  id: `id-${i}`,
  type: "function",
  function: { name: "add", arguments: "{}" },
});

describe("an answer without end is closed", () => {
  test.each<[string, string, string]>([
    ["text", "", chunk({ content: x })],
    ["thinking", "", chunk({ reasoning_content: x })],
    [
      "arguments",
      chunk({ tool_calls: [call(0)] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: x } }] }),
    ],
    ["a line that does not end", 'data: {"choices": "', x],
    ["an event that does not end", "data: a\n", `data: ${x}\n`],
    ["comments", "", `: ${x}\n\n`],
    ["white space", "", " ".repeat(10_000)],
    ["broken frames", "", "data: {\n\n".repeat(1000)],
    ["a whole answer", '{"choices": [', `{"message": {"content": "${x}"}},`],
  ])("%s", async (_, head, piece) => {
    for (const isPacked of [false, true]) {
      const { url, closed } = await serveForever(head, piece, isPacked);
      const { deltas, error } = await ask(url, { maxAnswerBytes });
      expect(error).toBeInstanceOf(AnswerLimitError);
      expect(error).toMatchObject({
        code: "model_answer_limit",
        limit: "maxAnswerBytes",
        max: maxAnswerBytes,
      });
      expect(error?.message).toContain("raise maxAnswerBytes");
      expect(deltas.filter(({ type }) => type === "warning").length).toBeLessThan(30);
      expect(deltas.map(({ type }) => type)).not.toContain("finished");
      await closed;
    }
  });

  test("and the text before the limit is kept", async () => {
    const { url } = await serveForever("", chunk({ content: x }));
    const { deltas, error } = await ask(url, { maxAnswerBytes });
    const text = deltas.map((delta) => (delta.type === "text.delta" ? delta.text : "")).join("");
    expect(text.length).toBeGreaterThan(10_000);
    expect((error as AnswerLimitError).partialText).toBe(text);
  });

  test("when it is only passed on", async () => {
    const { url, closed } = await serveForever("", chunk({ content: x }));
    let size = 0;
    const forwarding = chatForwarder({ baseURL: url, model: "m", maxAnswerBytes }).forward({
      body: "{}",
      signal: new AbortController().signal,
      onHead: () => {},
      onBytes: ({ length }) => {
        size += length;
        return undefined;
      },
    });
    await expect(forwarding).rejects.toThrow(AnswerLimitError);
    expect(size).toBeLessThanOrEqual(maxAnswerBytes);
    await closed;
  });
});

test("an answer of exactly as many bytes is read", async () => {
  const body = `${chunk({ content: "Hi" })}data: [DONE]\n\n`;
  await using server = await startModelServer([{ raw: [body] }, { raw: [body] }]);
  expect((await ask(server.url, { maxAnswerBytes: body.length })).error).toBeUndefined();
  expect((await ask(server.url, { maxAnswerBytes: body.length - 1 })).error).toBeInstanceOf(AnswerLimitError);
});

describe("an answer with more calls than the limit fails", () => {
  const calls = (count: number) => Array.from({ length: count }, (_, i) => call(i));
  const inText = (count: number) => '<tool_call>{"name": "add", "arguments": {}}</tool_call>'.repeat(count);
  const answers: [string, (count: number) => ServerStep][] = [
    [
      "one by one",
      (count) => ({ chunks: calls(count).map((it) => ({ choices: [{ delta: { tool_calls: [it] } }] })) }),
    ],
    ["in one chunk", (count) => ({ chunks: [{ choices: [{ delta: { tool_calls: calls(count) } }] }] })],
    ["in text", (count) => ({ chunks: [{ choices: [{ delta: { content: inText(count) } }] }] })],
    [
      "as a whole",
      (count) => ({
        body: { choices: [{ message: { tool_calls: calls(count) }, finish_reason: "tool_calls" }] },
      }),
    ],
  ];

  test.each(answers)("%s", async (_, answerWith) => {
    await using server = await startModelServer([answerWith(128), answerWith(129), answerWith(3)]);
    const { deltas, error } = await ask(server.url);
    expect(error).toBeUndefined();
    expect(deltas.filter(({ type }) => type === "call.ended")).toHaveLength(128);

    const tooMany = await ask(server.url);
    expect(tooMany.error).toMatchObject({ code: "model_answer_limit", limit: "maxCallsPerAnswer", max: 128 });
    expect(tooMany.deltas.filter(({ type }) => type === "call.ended")).toHaveLength(128);
    expect(tooMany.deltas.at(-1)?.type).not.toBe("finished");

    expect((await ask(server.url, { maxCallsPerAnswer: 2 })).error).toBeInstanceOf(AnswerLimitError);
  });
});

test("a stream that ends after the name of a tool is cut, unless the server says that this was all", async () => {
  const name = { choices: [{ delta: { tool_calls: [{ index: 0, id: "a", function: { name: "add" } }] } }] };
  const message = { tool_calls: [{ id: "a", function: { name: "add" } }] };
  await using server = await startModelServer([
    { chunks: [name], done: false },
    { chunks: [name] },
    { chunks: [name, { choices: [{ delta: {}, finish_reason: "stop" }] }], done: false },
    { body: { choices: [{ message }] } },
    { body: { choices: [{ message, finish_reason: "length" }] } },
  ]);
  const outcomes: unknown[] = [];
  for (let i = 0; i < 5; i++) {
    const { deltas } = await ask(server.url, {}, i > 2);
    outcomes.push(deltas.map((delta) => delta.type === "call.ended" && delta.isTruncated).includes(true));
  }
  expect(outcomes).toEqual([true, false, false, false, true]);
});

test("invalid limits are rejected", () => {
  const model = (options: OpenAICompatibleOptions) => () =>
    openaiCompatible({ baseURL: "http://h/v1", model: "m", ...options });
  expect(model({ maxAnswerBytes: 0 })).toThrow("maxAnswerBytes: expected a whole number from 1");
  expect(model({ maxCallsPerAnswer: 1.5 })).toThrow("maxCallsPerAnswer: expected a whole number from 1");
});
