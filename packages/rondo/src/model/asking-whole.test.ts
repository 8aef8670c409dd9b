// Where nobody reads along, the answer is asked for all at once.

import { expect, onTestFinished, test, vi } from "vitest";
import { ModelTimeoutError } from "../error/model-errors.ts";
import { type ModelServer, type ServerStep, startModelServer } from "../testing/index.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import type { ModelDelta, ModelRequest } from "./provider.ts";

const request: ModelRequest = { messages: [{ role: "user", content: "Hello!" }], wholeAnswer: true };
const add = {
  type: "function" as const,
  function: { name: "add", description: "", parameters: { type: "object" as const } },
};

async function serve(script: readonly ServerStep[]): Promise<ModelServer> {
  const server = await startModelServer(script);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function ask(
  server: ModelServer,
  options: OpenAICompatibleOptions = {},
  more: Partial<ModelRequest> = {},
): Promise<ModelDelta[]> {
  const model = openaiCompatible({ baseURL: server.url, model: "m", retry: false, ...options });
  return Array.fromAsync(model.stream({ ...request, ...more }));
}

test("the server is asked for no stream, and the answer comes as the same deltas", async () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  const calls = [{ name: "add", input: { a: 1 }, id: "x" }];
  const server = await serve([{ thinking: "Hm.", text: ["Hel", "lo"], calls, usage }]);
  expect(await ask(server, {}, { tools: [add] })).toEqual([
    { type: "thinking.delta", text: "Hm." },
    { type: "text.delta", text: "Hello" },
    { type: "call.started", id: "x", name: "add" },
    { type: "call.delta", id: "x", text: '{"a":1}' },
    { type: "call.ended", id: "x", name: "add", arguments: '{"a":1}', isTruncated: false },
    { type: "finished", finishReason: "tool_calls", usage },
  ]);
  const { body } = server.requests[0] ?? {};
  expect(body).toMatchObject({ stream: false });
  expect(body).not.toHaveProperty("stream_options");
});

test("thoughts and calls in the text are found as in a stream", async () => {
  const text = '<think>Hm.</think><tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';
  const server = await serve([{ text }]);
  const deltas = await ask(server, {}, { tools: [add] });
  expect(deltas.filter(({ type }) => type === "thinking.delta")).toEqual([
    { type: "thinking.delta", text: "Hm." },
  ]);
  expect(deltas.filter(({ type }) => type === "call.ended")).toMatchObject([{ name: "add" }]);
  expect(deltas.some(({ type }) => type === "text.delta")).toBe(false);
});

test.each<[why: string, options: OpenAICompatibleOptions, stream: boolean]>([
  ["the server can only stream", { profile: { onlyStreams: true } }, true],
  ["silence shall be noticed", { idleTimeoutMs: 5_000 }, true],
  ["there is no limit of silence", { idleTimeoutMs: Number.POSITIVE_INFINITY }, false],
])("where %s (%o), stream is %o", async (_, options, stream) => {
  const server = await serve([{ text: "Hi." }]);
  expect(await ask(server, options)).toMatchObject([{ text: "Hi." }, { type: "finished" }]);
  expect(server.requests[0]?.body).toMatchObject({ stream });
});

test("a slow whole answer does not time out", async () => {
  const gate = Promise.withResolvers<void>();
  const server = await serve([{ waitFor: gate.promise, text: "At last." }]);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = ask(server);
  await server.request(0);
  vi.advanceTimersByTime(3_600_000);
  vi.advanceTimersByTime(3_600_000);
  gate.resolve();
  expect(await answer).toMatchObject([{ text: "At last." }, { type: "finished" }]);
});

test("the limit of the whole request and an abort close the socket at once", async () => {
  const silent: ServerStep = { waitFor: new Promise(() => {}) };
  const server = await serve([silent, silent]);
  await expect(ask(server, { timeoutMs: 20 })).rejects.toBeInstanceOf(ModelTimeoutError);
  const controller = new AbortController();
  const answer = ask(server, {}, { signal: controller.signal });
  const asked = await server.request(1);
  controller.abort("enough");
  await expect(answer).rejects.toBe("enough");
  for (const { closed } of server.requests) await closed;
  expect([server.requests[0]?.wasLeft, asked.wasLeft]).toEqual([true, true]);
});

test("one that breaks off before its first byte is retried", async () => {
  const server = await serve([{ text: "Hi.", drop: 1 }, { text: "Hi." }]);
  const deltas = await ask(server, { retry: { delayMs: 1, maxDelayMs: 1 } });
  expect(deltas).toMatchObject([{ type: "warning" }, { text: "Hi." }, { type: "finished" }]);
});

test("one that breaks off midway emits no text", async () => {
  const server = await serve([{ raw: ['{"choices":[{"message":{"content":"Hi'], drop: 1 }]);
  await expect(ask(server)).rejects.toMatchObject({ code: "model_stream_broken", partialText: "" });
});

test("a server that streams all the same is understood", async () => {
  const chunks = ["Hel", "lo"].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
  const server = await serve([{ chunks }]);
  const deltas = await ask(server);
  expect(deltas.map((delta) => (delta.type === "text.delta" ? delta.text : "")).join("")).toBe("Hello");
});
