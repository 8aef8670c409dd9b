import { describe, expect, onTestFinished, test } from "vitest";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  BrokenStreamError,
  EmptyAnswerError,
  ModelConnectionError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "../error/model-errors.ts";
import {
  ModelAuthError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "../error/model-http-errors.ts";
import { type ModelServer, type ServerStep, sseFrame, startModelServer } from "../testing/index.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import type { ModelDelta, ModelRequest } from "./provider.ts";

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
const quick = { delayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 };

async function serve(script: ServerStep | readonly ServerStep[]): Promise<ModelServer> {
  const server = await startModelServer(script);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function modelOf(server: ModelServer, options: OpenAICompatibleOptions = {}) {
  return openaiCompatible({ baseURL: server.url, model: "test-model", retry: false, ...options });
}

interface Outcome {
  deltas: ModelDelta[];
  text: string;
  warnings: string[];
  error: unknown;
}

async function ask(
  server: ModelServer,
  options?: OpenAICompatibleOptions,
  request = hello,
): Promise<Outcome> {
  const outcome: Outcome = { deltas: [], text: "", warnings: [], error: undefined };
  try {
    for await (const delta of modelOf(server, options).stream(request)) {
      outcome.deltas.push(delta);
      if (delta.type === "text.delta") outcome.text += delta.text;
      if (delta.type === "warning") outcome.warnings.push(delta.message);
    }
  } catch (error) {
    outcome.error = error;
  }
  return outcome;
}

const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const stop = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

describe("a request", () => {
  test("is posted as a stream, with the key and the headers", async () => {
    const server = await serve([{ text: "Hi." }]);
    await ask(server, { apiKey: "secret", headers: { "X-Team": "a" } });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer secret", "x-team": "a", "content-type": "application/json" },
      body: {
        model: "test-model",
        messages: hello.messages,
        stream: true,
        stream_options: { include_usage: true },
      },
    });
  });

  test("keeps its connection for the next one", async () => {
    const server = await serve([{ text: "a" }, { text: "b" }, { status: 400 }, { text: "c" }]);
    for (const text of ["a", "b", "", "c"]) expect(await ask(server)).toMatchObject({ text });
    expect(server.connectionCount).toBe(1);
  });

  test("is not sent before the stream is read", async () => {
    const server = await serve([]);
    modelOf(server).stream(hello);
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.requests).toEqual([]);
  });
});

test("an answer comes as deltas, with its usage at the end", async () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };
  const server = await serve([{ text: ["Hel", "lo"], usage }]);
  const { deltas, text } = await ask(server);
  // Pieces that come together are one.
  expect(deltas.slice(0, -1).map(({ type }) => type)).toEqual(deltas.slice(1).map(() => "text.delta"));
  expect(text).toBe("Hello");
  expect(deltas.at(-1)).toEqual({ type: "finished", finishReason: "stop", usage });
});

describe("a stream", () => {
  const frame = 'data: {"choices":[{"index":0,"delta":{"content":"héllo 👩‍💻"}}]}';

  test.each<[name: string, raw: string[]]>([
    ["CRLF", [`${frame}\r\n\r\n`, "data: [DONE]\r\n\r\n"]],
    ["no space", [`${frame.replace(": ", ":")}\n\n`, "data:[DONE]\n\n"]],
    ["several lines of data", [`${frame.replace('"delta"', '\ndata: "delta"')}\n\n`]],
    ["a byte order mark", [`\u{feff}${frame}\n\n`]],
    ["comments", [": OPENROUTER PROCESSING\n\n", `${frame}\n\n: ping\n\n`]],
    ["blank lines first", [`\n\n${frame}\n\n`]],
    ["no end of the last event", [frame]],
    ["empty data", [`data:\n\n${frame}\n\n`]],
    ["more after its end", [`${frame}\n\ndata: [DONE]\n\n${frame}\n\n`]],
  ])("with %s", async (_, raw) => {
    const server = await serve([{ raw }, { raw, splitBytes: 1 }]);
    expect(await ask(server)).toMatchObject({ text: "héllo 👩‍💻", error: undefined });
    expect(await ask(server)).toMatchObject({ text: "héllo 👩‍💻", error: undefined });
  });

  test("of a wrong content type, or none", async () => {
    const server = await serve([{ text: "Hi.", headers: { "content-type": "application/json" } }]);
    expect(await ask(server)).toMatchObject({ text: "Hi.", error: undefined });
  });

  test("that is compressed", async () => {
    const server = await serve([{ text: ["Hel", "lo"], gzip: true, splitBytes: 5 }]);
    expect(await ask(server)).toMatchObject({ text: "Hello", error: undefined });
  });

  test("without [DONE], and without a reason to finish", async () => {
    const server = await serve([{ chunks: [chunk("Hi.")], done: false }]);
    expect((await ask(server)).deltas.at(-1)).toMatchObject({ type: "finished", finishReason: "unknown" });
  });

  test("is over at [DONE], even if the server leaves the connection open", async () => {
    const server = await serve([{ chunks: [chunk("Hi."), stop], done: true, stall: 3 }]);
    expect(await ask(server)).toMatchObject({ text: "Hi.", error: undefined });
    await server.requests[0]?.closed;
  });

  test("skips a broken frame with a warning", async () => {
    const server = await serve([
      { raw: [sseFrame(chunk("Hel")), "data: {broken\n\n", sseFrame(chunk("lo")), "data: [DONE]\n\n"] },
    ]);
    const { text, warnings, error } = await ask(server);
    expect(text).toBe("Hello");
    expect(error).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("is not JSON and was skipped: {broken")]);
  });
});

describe("an answer that is no stream", () => {
  const answer = {
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };

  test("is understood", async () => {
    const server = await serve([{ body: answer }, { body: answer, splitBytes: 1 }]);
    for (const _ of [1, 2])
      expect((await ask(server)).deltas).toEqual([
        { type: "text.delta", text: "Hello" },
        {
          type: "finished",
          finishReason: "stop",
          usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
        },
      ]);
  });

  test("is understood with calls", async () => {
    const calls = ["1", "2"].map((id) => ({
      id,
      type: "function",
      function: { name: "add", arguments: "{}" },
    }));
    const choice = { index: 0, message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" };
    const server = await serve([{ body: { choices: [choice] } }]);
    const { deltas } = await ask(
      server,
      {},
      {
        ...hello,
        tools: [{ type: "function", function: { name: "add", description: "", parameters: {} } }],
      },
    );
    expect(deltas.filter(({ type }) => type === "call.ended")).toEqual([
      { type: "call.ended", id: "1", name: "add", arguments: "{}", isTruncated: false },
      { type: "call.ended", id: "2", name: "add", arguments: "{}", isTruncated: false },
    ]);
  });

  test.each<[name: string, step: ServerStep, error: unknown, words: string]>([
    [
      "a web page",
      { body: "<!DOCTYPE html><h1>Hi" },
      UnexpectedAnswerError,
      "got a web page: <!DOCTYPE html>",
    ],
    ["a page as a stream", { raw: ["\n <html>"] }, UnexpectedAnswerError, "a web page"],
    ["other JSON", { body: { ok: true } }, UnexpectedAnswerError, `something else: {"ok":true}`],
    ["half of its JSON", { body: '{"choices":[' }, UnexpectedAnswerError, "invalid or truncated JSON"],
    ["an error", { body: { error: "Unexpected endpoint." } }, ReportedStreamError, "Unexpected endpoint"],
    ["nothing", { raw: [] }, EmptyAnswerError, "without having said anything"],
    ["only [DONE]", { raw: ["data: [DONE]\n\n"] }, EmptyAnswerError, "without having said anything"],
    ["only comments", { raw: [": a\n\n"] }, EmptyAnswerError, "could be read: : a"],
    ["plain text", { raw: ["Internal error"] }, EmptyAnswerError, "could be read: Internal error"],
    [
      "a redirect",
      { status: 308, body: "", headers: { location: "https://example.org/" } },
      UnexpectedAnswerError,
      "a redirect (status 308), which is not followed: https://example.org/",
    ],
  ])("is an error when it is %s", async (_, step, errorClass, words) => {
    const server = await serve([step]);
    const { error, deltas } = await ask(server);
    expect(deltas).toEqual([]);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ endpoint: server.url, message: expect.stringContaining(words) });
  });
});

describe("an error in mid-stream keeps what came before", () => {
  test.each<[name: string, report: string]>([
    ["an object", sseFrame({ error: { message: "out of memory", code: 500 } })],
    ["a text", sseFrame({ error: "out of memory" })],
    ["a named event", 'event: error\ndata: {"message":"out of memory"}\n\n'],
    ["a named event that is no JSON", "event: error\ndata: out of memory\n\n"],
    ["llama.cpp's own field", 'error: {"code":500,"message":"out of memory"}\n\n'],
  ])("%s", async (_, report) => {
    const server = await serve([{ raw: [sseFrame(chunk("Hel")), sseFrame(chunk("lo")), report] }]);
    const { text, error } = await ask(server);
    expect(text).toBe("Hello");
    expect(error).toBeInstanceOf(ReportedStreamError);
    expect(error).toMatchObject({ endpoint: server.url, partialText: "Hello", said: "out of memory" });
  });

  test("an empty error field is not an error", async () => {
    const server = await serve([
      {
        chunks: [
          { ...chunk("Hi."), error: null },
          { ...stop, error: "" },
        ],
      },
    ]);
    expect(await ask(server)).toMatchObject({ text: "Hi.", error: undefined });
  });

  test("a dropped socket", async () => {
    const server = await serve([{ chunks: [chunk("Hel"), chunk("lo"), stop], drop: 2 }]);
    const { text, deltas, error } = await ask(server);
    expect(text).toBe("Hello");
    expect(deltas.map(({ type }) => type)).not.toContain("finished");
    expect(error).toBeInstanceOf(BrokenStreamError);
    expect(error).toMatchObject({ endpoint: server.url, partialText: "Hello" });
  });

  test("a dropped socket, with text that was held back", async () => {
    const server = await serve([{ chunks: [chunk("a <thi"), stop], drop: 1 }]);
    const { text, error } = await ask(server);
    expect(text).toBe("a <thi");
    expect(error).toMatchObject({ partialText: "a <thi" });
  });

  test("a dropped socket, with a call that is then known to be cut off", async () => {
    const server = await serve([{ calls: [{ name: "add", arguments: ['{"a":1,', '"b":2}'] }], drop: 3 }]);
    const tools = [{ type: "function", function: { name: "add", description: "", parameters: {} } } as const];
    const { deltas, error } = await ask(server, {}, { ...hello, tools });
    expect(deltas.at(-1)).toMatchObject({ type: "call.ended", isTruncated: true });
    expect(error).toBeInstanceOf(BrokenStreamError);
  });

  test("is never retried", async () => {
    const server = await serve([{ chunks: [chunk("Hel"), stop], drop: 1 }]);
    const { error, warnings } = await ask(server, { retry: quick });
    expect(error).toBeInstanceOf(BrokenStreamError);
    expect(warnings).toEqual([]);
  });
});

describe("before the stream", () => {
  test.each<[name: string, step: ServerStep, error: unknown, words: string]>([
    ["401", { status: 401, body: { error: { message: "bad key" } } }, ModelAuthError, "bad key"],
    ["403", { status: 403 }, ModelAuthError, "Pass the apiKey"],
    ["429", { status: 429, headers: { "retry-after": "7" } }, ModelRateLimitError, "in 7000 ms"],
    ["500", { status: 500, body: "<h1>Oops" }, ModelServerError, "status 500: a web page"],
    [
      "503",
      { status: 503, body: { error: { message: "Loading model" } } },
      ModelServerError,
      "still loading",
    ],
    ["400", { status: 400, body: { detail: "too long." } }, ModelRequestError, "status 400: too long)"],
    ["418", { status: 418, body: "teapot" }, ModelRequestError, "teapot"],
    [
      "404 for the model",
      { status: 404, body: { error: { message: "model 'test-model' not found" } } },
      ModelNotFoundError,
      "has no model 'test-model'",
    ],
    [
      "404 for the path",
      { status: 404, body: "404 page not found" },
      ModelNotFoundError,
      "usually ends in /v1",
    ],
    [
      "400 for the model",
      { status: 400, body: { error: { message: "unknown", code: "model_not_found" } } },
      ModelNotFoundError,
      "listModels",
    ],
  ])("%s is an error that says what to do", async (_, step, errorClass, words) => {
    const server = await serve([step]);
    const { error } = await ask(server);
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ endpoint: server.url, message: expect.stringContaining(words) });
  });

  test("nobody listening is an error that says to start a server", async () => {
    const server = await startModelServer([]);
    await server.close();
    const { error } = await ask(server);
    expect(error).toBeInstanceOf(ModelConnectionError);
    expect(error).toMatchObject({ endpoint: server.url, reason: "ECONNREFUSED" });
    expect((error as Error).message).toContain("`ollama serve`");
  });

  test("an unknown host is an error at once", async () => {
    const model = openaiCompatible({ baseURL: "http://nowhere.invalid/v1", model: "m" });
    await expect(Array.fromAsync(model.stream(hello))).rejects.toThrow(ModelConnectionError);
  });

  test.each<[name: string, step: ServerStep, words: string]>([
    ["429", { status: 429, headers: { "retry-after": "0.001" } }, "answered with status 429"],
    ["500", { status: 500 }, "answered with status 500"],
    ["503", { status: 503, body: { error: { message: "Loading model" } } }, "status 503 (Loading model)"],
    ["a reset", { hangUp: true }, "did not answer (ECONNRESET)"],
    ["a reset after the head", { raw: [], drop: 0 }, "did not answer (ECONNRESET)"],
  ])("%s is retried, with a warning that says why and when", async (_, step, words) => {
    const server = await serve([step, { text: "Hi." }]);
    const { text, warnings, error } = await ask(server, { retry: quick });
    expect(error).toBeUndefined();
    expect(text).toBe("Hi.");
    expect(warnings).toEqual([expect.stringContaining(words)]);
    expect(warnings[0]).toMatch(/asking again in \d+ ms \(attempt 2 of 3\)\.$/);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
  });

  test("gives up after the last attempt", async () => {
    const server = await serve([{ status: 500 }, { status: 502 }, { status: 503 }]);
    const { warnings, error } = await ask(server, { retry: quick });
    expect(warnings).toHaveLength(2);
    expect(error).toMatchObject({ code: "model_server", status: 503 });
  });

  test.each([400, 401, 404, 501])("%i is not asked again", async (status) => {
    const server = await serve([{ status }]);
    expect(await ask(server, { retry: quick })).toMatchObject({ warnings: [], error: { status } });
  });
});

describe("parallel requests", () => {
  test("wait in line above the limit of the endpoint, until the stream before has ended", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = await serve([
      { chunks: [chunk("a"), gates[0]?.promise, stop] },
      { chunks: [chunk("b"), gates[1]?.promise, stop] },
      { text: "c" },
    ]);
    const options = { maxConcurrency: 2 };
    const running = [ask(server, options), ask(server, options)];
    await server.request(1);
    const third = ask(server, options);
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.requests).toHaveLength(2);
    gates[0]?.resolve();
    expect(await third).toMatchObject({ text: "c" });
    gates[1]?.resolve();
    await Promise.all(running);
  });

  test.each<[name: string, step: ServerStep]>([
    ["fails", { status: 400 }],
    ["breaks", { chunks: [chunk("a")], drop: 1 }],
  ])("get the slot of one that %s", async (_, step) => {
    const server = await serve([step, { text: "b" }]);
    const [first, second] = await Promise.all([
      ask(server, { maxConcurrency: 1 }),
      ask(server, { maxConcurrency: 1 }),
    ]);
    expect(first.error).toBeDefined();
    expect(second).toMatchObject({ text: "b" });
  });

  test("get the slot of one that was left", async () => {
    const server = await serve([{ chunks: [chunk("a")], stall: true }, { text: "b" }]);
    for await (const _ of modelOf(server, { maxConcurrency: 1 }).stream(hello)) break;
    expect(await ask(server, { maxConcurrency: 1 })).toMatchObject({ text: "b" });
  });
});

test("a consumer that takes its time holds the server back, and loses nothing", async () => {
  const many = 20_000;
  const server = await serve([{ chunks: [...Array.from({ length: many }, (_, n) => chunk(`${n} `)), stop] }]);
  let text = "";
  let count = 0;
  for await (const delta of modelOf(server, { idleTimeoutMs: 5_000 }).stream(hello)) {
    count += 1;
    if (delta.type === "text.delta") text += delta.text;
    if (count % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(text).toBe(Array.from({ length: many }, (_, n) => `${n} `).join(""));
});

test("the option fetch is used instead of the runtime's own HTTP", async () => {
  const urls: string[] = [];
  const server = await serve([{ text: "Hi." }]);
  const { text } = await ask(server, {
    fetch: (url, init) => {
      urls.push(url);
      return fetch(url, init);
    },
  });
  expect(text).toBe("Hi.");
  expect(urls).toEqual([`${server.url}/chat/completions`]);
});

test("the provider shows what it is, and no secrets", () => {
  const model = openaiCompatible({
    baseURL: "http://user:pass@localhost:9/v1/?k=v",
    model: "m",
    apiKey: "secret",
  });
  expect(model).toMatchObject({ name: "m", endpoint: "http://localhost:9/v1" });
  expect(JSON.stringify(model)).not.toMatch(/secret|pass/);
});

test("the user's profile wins over the one that was picked", () => {
  const picked = openaiCompatible({ baseURL: "http://localhost:9/v1", model: "m" }).profile;
  const { profile } = openaiCompatible({
    baseURL: "http://localhost:9/v1",
    model: "m",
    profile: { text: "cumulative" },
  });
  expect(profile).toMatchObject({ ...picked, text: "cumulative", name: expect.any(String) });
});

describe("refuses", () => {
  const good = { baseURL: "http://localhost:9/v1", model: "m" };

  test.each<[options: unknown, field: string, errorClass: unknown]>([
    [{ ...good, baseURL: "localhost:11434" }, "baseURL", InvalidArgumentError],
    [{ ...good, baseURL: "not a url" }, "baseURL", InvalidArgumentError],
    [{ ...good, baseURL: "ftp://localhost" }, "baseURL", InvalidArgumentError],
    [{ ...good, baseURL: 5 }, "baseURL", InvalidTypeError],
    [{ model: "m" }, "baseURL", InvalidArgumentError],
    [{ ...good, model: " " }, "model", InvalidArgumentError],
    [{ ...good, model: undefined }, "model", InvalidArgumentError],
    [{ ...good, model: 5 }, "model", InvalidTypeError],
    [{ ...good, apiKey: "a\nb" }, "apiKey", InvalidArgumentError],
    [{ ...good, apiKey: 5 }, "apiKey", InvalidTypeError],
    [{ ...good, headers: { "a b": "c" } }, "headers.a b", InvalidArgumentError],
    [{ ...good, headers: { a: "b\r\nc: d" } }, "headers.a", InvalidArgumentError],
    [{ ...good, headers: { a: 5 } }, "headers.a", InvalidTypeError],
    [{ ...good, maxConcurrency: 0 }, "maxConcurrency", InvalidArgumentError],
    [{ ...good, timeoutMs: -1 }, "timeoutMs", InvalidArgumentError],
    [{ ...good, idleTimeoutMs: "5" }, "idleTimeoutMs", InvalidTypeError],
    [{ ...good, retry: { attempts: 0 } }, "retry.attempts", InvalidArgumentError],
    [{ ...good, fetch: {} }, "fetch", InvalidTypeError],
    [{ ...good, profile: "qwen" }, "profile", InvalidTypeError],
    [{ ...good, server: 5 }, "server", InvalidTypeError],
    [{ ...good, timeout: 5 }, "options.timeout", InvalidArgumentError],
    [undefined, "options", InvalidTypeError],
  ])("the options %j", (options, field, errorClass) => {
    let error: unknown;
    try {
      openaiCompatible(options as OpenAICompatibleOptions);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ field });
    expect(String(error)).not.toContain("a\\nb");
  });

  test.each<[request: unknown, field: string]>([
    [undefined, "request"],
    [{ messages: "Hi" }, "messages"],
    [{ messages: [] }, "messages"],
    [{ ...hello, signal: {} }, "signal"],
    [{ ...hello, settings: { temperature: 3 } }, "settings.temperature"],
  ])("the request %j, before anything is sent", (request, field) => {
    const model = openaiCompatible(good);
    expect(() => model.stream(request as ModelRequest)).toThrow(expect.objectContaining({ field }));
  });
});
