// However a stream is left, the server sees its socket closed at once, and nothing stays behind.

import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { TimeoutError } from "../error/execution-errors.ts";
import { ModelIdleTimeoutError, ModelTimeoutError } from "../error/model-errors.ts";
import { type ModelServer, type ServerStep, startModelServer } from "../testing/index.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "./chat-completions.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "./provider.ts";

const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
/** Says one word and then nothing, for ever. */
const stuck: ServerStep = { chunks: [chunk("Hel")], stall: true };
/** Does not even say that. */
const silent: ServerStep = { waitFor: new Promise(() => {}) };

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

/** A server and a model on it. After the test, no timer may be left that was not there before. */
async function open(
  script: readonly ServerStep[],
  options: OpenAICompatibleOptions = {},
): Promise<{ server: ModelServer; model: ModelProvider }> {
  const timersBefore = timers();
  const server = await startModelServer(script);
  onTestFinished(async () => {
    expect(timers()).toBeLessThanOrEqual(timersBefore);
    await server[Symbol.asyncDispose]();
  });
  return { server, model: openaiCompatible({ baseURL: server.url, model: "m", retry: false, ...options }) };
}

/** The request at `index` has ended because the client closed its socket. */
async function expectLeft(server: ModelServer, index = 0): Promise<void> {
  const request = await server.request(index);
  await request.closed;
  expect(request.wasLeft).toBe(true);
}

async function collect(stream: AsyncIterable<ModelDelta>): Promise<{ deltas: ModelDelta[]; error: unknown }> {
  const deltas: ModelDelta[] = [];
  try {
    for await (const delta of stream) deltas.push(delta);
  } catch (error) {
    return { deltas, error };
  }
  return { deltas, error: undefined };
}

describe.each<[name: string, options: OpenAICompatibleOptions]>([
  ["node:http", {}],
  ["fetch", { fetch }],
])("by %s, the socket is closed after", (_, options) => {
  test("break", async () => {
    const { server, model } = await open([stuck], options);
    for await (const delta of model.stream(hello)) {
      expect(delta).toEqual({ type: "text.delta", text: "Hel" });
      break;
    }
    await expectLeft(server);
  });

  test("return(), although next() is pending", async () => {
    const { server, model } = await open([stuck], options);
    const stream = model.stream(hello)[Symbol.asyncIterator]();
    await stream.next();
    const pending = stream.next();
    await stream.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    await expectLeft(server);
  });

  test("return() before the answer has begun", async () => {
    const { server, model } = await open([silent], options);
    const stream = model.stream(hello)[Symbol.asyncIterator]();
    const pending = stream.next();
    await server.request(0);
    await stream.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    await expectLeft(server);
  });

  test("an error thrown in the loop's body", async () => {
    const { server, model } = await open([stuck], options);
    const run = async () => {
      for await (const delta of model.stream(hello)) throw new Error(delta.type);
    };
    await expect(run()).rejects.toThrow("text.delta");
    await expectLeft(server);
  });

  test("an abort in mid-stream, with its reason", async () => {
    const { server, model } = await open([stuck], options);
    const { signal, ...controller } = abortable();
    const stream = model.stream({ ...hello, signal })[Symbol.asyncIterator]();
    await stream.next();
    const pending = stream.next();
    controller.abort("enough");
    await expect(pending).rejects.toBe("enough");
    await expectLeft(server);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("an abort before the answer has begun, with its reason", async () => {
    const { server, model } = await open([silent], options);
    const { signal, ...controller } = abortable();
    const outcome = collect(model.stream({ ...hello, signal }));
    await server.request(0);
    controller.abort("enough");
    expect(await outcome).toEqual({ deltas: [], error: "enough" });
    await expectLeft(server);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("the limit of silence in mid-stream, which keeps what came before", async () => {
    const { server, model } = await open([stuck], { ...options, idleTimeoutMs: 30 });
    const { deltas, error } = await collect(model.stream(hello));
    expect(deltas).toEqual([{ type: "text.delta", text: "Hel" }]);
    expect(error).toBeInstanceOf(ModelIdleTimeoutError);
    expect(error).toMatchObject({ endpoint: server.url, timeoutMs: 30, partialText: "Hel" });
    await expectLeft(server);
  });

  test("the limit of silence before the answer", async () => {
    const { server, model } = await open([silent], { ...options, idleTimeoutMs: 30 });
    const { error } = await collect(model.stream(hello));
    expect(error).toBeInstanceOf(ModelIdleTimeoutError);
    await expectLeft(server);
  });

  test("the limit of the whole request, however busy the server is", async () => {
    const endless = { chunks: Array.from({ length: 10_000 }, () => chunk("x")), chunkDelayMs: 1 };
    const { server, model } = await open([endless], { ...options, timeoutMs: 100 });
    const { deltas, error } = await collect(model.stream(hello));
    expect(error).toBeInstanceOf(ModelTimeoutError);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ timeoutMs: 100, partialText: "x".repeat(deltas.length) });
    await expectLeft(server);
  });

  test("a broken answer", async () => {
    const { server, model } = await open([{ raw: ["<html>"], stall: true }], options);
    expect(await collect(model.stream(hello))).toMatchObject({ error: { code: "model_unexpected_answer" } });
    await expectLeft(server);
  });
});

function abortable(): { signal: AbortSignal; abort: (reason: unknown) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

test("an abort in the wait before a retry ends it, and asks no more", async () => {
  const { server, model } = await open([{ status: 500 }], { retry: { delayMs: 60_000, maxDelayMs: 60_000 } });
  const { signal, abort } = abortable();
  const stream = model.stream({ ...hello, signal })[Symbol.asyncIterator]();
  expect(await stream.next()).toMatchObject({ value: { type: "warning" } });
  const pending = stream.next();
  abort("enough");
  await expect(pending).rejects.toBe("enough");
  expect(server.requests).toHaveLength(1);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort in the wait for a slot ends it, and the server is never asked", async () => {
  const { server, model } = await open([stuck], { maxConcurrency: 1 });
  const first = model.stream(hello)[Symbol.asyncIterator]();
  await first.next();
  const { signal, abort } = abortable();
  const pending = collect(model.stream({ ...hello, signal }));
  abort("enough");
  expect(await pending).toEqual({ deltas: [], error: "enough" });
  await first.return?.();
  await expectLeft(server);
  expect(server.requests).toHaveLength(1);
});

test("the limit of the whole request also ends the waits between attempts", async () => {
  const { model } = await open([{ status: 500 }], {
    timeoutMs: 30,
    retry: { delayMs: 60_000, maxDelayMs: 60_000 },
  });
  const { error } = await collect(model.stream(hello));
  expect(error).toBeInstanceOf(ModelTimeoutError);
});

test("waiting for a slot counts for no limit", async () => {
  const gate = Promise.withResolvers<void>();
  const { server, model } = await open([{ chunks: [chunk("a"), gate.promise] }, { text: "b" }], {
    maxConcurrency: 1,
  });
  const patient = collect(model.stream(hello));
  await server.request(0);
  const options = { baseURL: server.url, model: "m", maxConcurrency: 1, timeoutMs: 500, idleTimeoutMs: 500 };
  const hurried = collect(openaiCompatible(options).stream(hello));
  setTimeout(gate.resolve, 600);
  expect((await patient).error).toBeUndefined();
  expect((await hurried).error).toBeUndefined();
});

test("a slow model is not timed out while it keeps sending", async () => {
  const slow = { chunks: Array.from({ length: 10 }, () => chunk("x")), chunkDelayMs: 50 };
  const { model } = await open([slow], { idleTimeoutMs: 400 });
  expect((await collect(model.stream(hello))).error).toBeUndefined();
});

test("comments of a busy server restart the idle timeout", async () => {
  const raw = Array.from({ length: 10 }, () => ": still thinking\n\n");
  const busy = { raw: [...raw, `data: ${JSON.stringify(chunk("Hi."))}\n\n`], chunkDelayMs: 50 };
  const { model } = await open([busy], { idleTimeoutMs: 400 });
  expect((await collect(model.stream(hello))).error).toBeUndefined();
});

test("a consumer that takes its time does not make the server silent", async () => {
  const { model } = await open([{ chunks: Array.from({ length: 2_000 }, () => chunk("x")) }], {
    idleTimeoutMs: 200,
  });
  let isFirst = true;
  let said = "";
  for await (const delta of model.stream(hello)) {
    if (isFirst) await new Promise((resolve) => setTimeout(resolve, 400));
    isFirst = false;
    if (delta.type === "text.delta") said += delta.text;
  }
  expect(said).toBe("x".repeat(2_000));
});

test("a stream that was never read has nothing to close", async () => {
  const { server, model } = await open([]);
  const { signal } = abortable();
  const stream = model.stream({ ...hello, signal })[Symbol.asyncIterator]();
  await stream.return?.();
  expect(server.requests).toEqual([]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a signal used for many requests accumulates no listeners", async () => {
  const { model } = await open(Array.from({ length: 20 }, () => ({ text: "Hi." })));
  const { signal } = abortable();
  for (let count = 0; count < 20; count += 1) await collect(model.stream({ ...hello, signal }));
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
