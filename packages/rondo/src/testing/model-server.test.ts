import { once } from "node:events";
import { Agent, get, request } from "node:http";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { chatChunks, doneFrame, type ModelServer, ScriptError, sseFrame, startModelServer } from "./index.ts";

function ask(server: ModelServer, options: RequestInit = {}): Promise<Response> {
  return fetch(`${server.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", stream: true, messages: [] }),
    ...options,
  });
}

/** What `data:` lines carry, as JSON where it is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: they are looked into as they came.
async function eventsOf(response: Response): Promise<any[]> {
  const frames = (await response.text()).split("\n\n").filter((frame) => frame !== "");
  return frames.map((frame) => {
    const data = frame.replace(/^data: /, "");
    return data === "[DONE]" ? data : JSON.parse(data);
  });
}

async function* piecesOf({ body }: Response): AsyncGenerator<string> {
  if (body) yield* body.pipeThrough(new TextDecoderStream());
}

describe("an answer", () => {
  test("is streamed in real events, as a well-behaved server does it", async () => {
    await using server = await startModelServer([
      {
        thinking: "Hm.",
        text: ["Hel", "lo"],
        calls: [
          { name: "add", input: { a: 1 } },
          { name: "now", id: "x", arguments: ["{", "}"] },
        ],
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      },
    ]);
    const response = await ask(server);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = await eventsOf(response);
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.at(-2)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    const choices = events.slice(0, -2).map((event) => event.choices[0]);
    expect(choices.map(({ delta }) => delta)).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "Hm." },
      { content: "Hel" },
      { content: "lo" },
      {
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "add", arguments: "" } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, id: "x", type: "function", function: { name: "now", arguments: "" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "{" } }] },
      { tool_calls: [{ index: 1, function: { arguments: "}" } }] },
      {},
    ]);
    expect(choices.map(({ finish_reason: reason }) => reason).at(-1)).toBe("tool_calls");
    expect(events[0]).toMatchObject({ object: "chat.completion.chunk", model: "m" });
  });

  test("may be just its text, a function of the request, chunks or bytes as they are", async () => {
    await using server = await startModelServer([
      "Hi",
      async ({ body }) => ({ text: `You want ${body.model}.` }),
      { chunks: [{ a: 1 }, "text"], done: false },
      { raw: ["data: {brok", Buffer.from("en\r\n\r\n")] },
    ]);
    expect(await eventsOf(await ask(server))).toContainEqual(
      expect.objectContaining({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] }),
    );
    expect(await (await ask(server)).text()).toContain('"You want m."');
    expect(await (await ask(server)).text()).toBe('data: {"a":1}\n\ndata: "text"\n\n');
    expect(await (await ask(server)).text()).toBe("data: {broken\r\n\r\n");
  });

  test("is whole for clients that do not stream", async () => {
    const gate = Promise.withResolvers<void>();
    await using server = await startModelServer([
      {
        thinking: "Hm.",
        text: ["Hel", gate.promise, "lo"],
        calls: [{ name: "add", arguments: ["{", "}"] }],
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      },
    ]);
    const body = JSON.stringify({ model: "m", messages: [] });
    const asking = fetch(`${server.url}/chat/completions`, { method: "POST", body });
    gate.resolve();
    const response = await asking;
    expect(response.headers.get("content-type")).toBe("application/json");
    const add = { id: "call_1", type: "function", function: { name: "add", arguments: "{}" } };
    const message = { role: "assistant", content: "Hello", reasoning_content: "Hm.", tool_calls: [add] };
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      model: "m",
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
  });

  test("may be no stream, with any status and headers", async () => {
    await using server = await startModelServer([
      { status: 429, headers: { "Retry-After": "2" }, body: { error: { message: "slow down" } } },
      { status: 503 },
      { body: "<h1>Welcome</h1>" },
      { body: "", headers: { "Content-Type": "text/plain" } },
    ]);
    const limited = await ask(server);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(limited.headers.get("content-type")).toBe("application/json");
    expect(await limited.json()).toEqual({ error: { message: "slow down" } });
    const loading = await ask(server);
    expect(loading.status).toBe(503);
    expect(await loading.json()).toMatchObject({ error: { message: expect.stringContaining("503") } });
    const page = await ask(server);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await page.text()).toBe("<h1>Welcome</h1>");
    const empty = await ask(server);
    expect([empty.headers.get("content-type"), await empty.text()]).toEqual(["text/plain", ""]);
  });

  test("is compressed on demand, piece by piece", async () => {
    const gate = Promise.withResolvers<void>();
    await using server = await startModelServer([
      { text: ["Hello", gate.promise, " world"], gzip: true },
      { body: { a: 1 }, gzip: true },
    ]);
    const response = await ask(server);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    let text = "";
    for await (const piece of piecesOf(response)) {
      text += piece;
      if (text.includes('"Hello"')) gate.resolve();
    }
    expect(text).toContain('" world"');
    expect(text.endsWith(doneFrame)).toBe(true);
    expect(await (await ask(server)).json()).toEqual({ a: 1 });
  });

  test("is cut into pieces of any size without losing a byte", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "grapheme" })),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (text, splitBytes, gzip) => {
          await using server = await startModelServer([{ text, splitBytes, gzip }]);
          const expected = chatChunks({ text }, { model: "m" }).map(sseFrame).join("") + doneFrame;
          expect(await (await ask(server)).text()).toBe(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("comes in as many pieces as asked for", async () => {
    await using server = await startModelServer([{ raw: ["äöü", "x"], splitBytes: 3 }]);
    const lengths: number[] = [];
    const asking = request(`${server.url}/chat/completions`, { method: "POST" }).end();
    asking.on("response", (response) => response.on("data", ({ length }: Buffer) => lengths.push(length)));
    await once(asking, "close");
    expect(lengths).toEqual([3, 3, 1]);
  });

  test("waits for its gates: before the head, and between chunks", async () => {
    const head = Promise.withResolvers<void>();
    const middle = Promise.withResolvers<void>();
    await using server = await startModelServer([{ waitFor: head.promise, raw: ["a", middle.promise, "b"] }]);
    const seen: string[] = [];
    const asking = ask(server).then((response) => {
      seen.push("head");
      return response;
    });
    await server.request(0);
    seen.push("opened");
    head.resolve();
    for await (const piece of piecesOf(await asking)) {
      seen.push(piece);
      middle.resolve();
    }
    expect(seen).toEqual(["opened", "head", "a", "b"]);
  });

  test("delays answers on demand", async () => {
    await using server = await startModelServer([{ delayMs: 1, chunkDelayMs: 1, raw: ["a", "b"] }]);
    expect(await (await ask(server)).text()).toBe("ab");
  });
});

describe("a fault", () => {
  test("hangUp closes the socket without an answer", async () => {
    await using server = await startModelServer([{ hangUp: true }]);
    await expect(ask(server)).rejects.toThrow("fetch failed");
    expect(server.requests[0]).toMatchObject({ wasLeft: false });
  });

  test.each([
    [0, ""],
    [2, "ab"],
  ])("drop: %i closes the socket after so many chunks", async (drop, expected) => {
    await using server = await startModelServer([{ raw: ["a", "b", "c"], drop }]);
    const response = await ask(server);
    let text = "";
    const reading = (async () => {
      for await (const piece of piecesOf(response)) text += piece;
    })();
    await expect(reading).rejects.toThrow("terminated");
    expect(text).toBe(expected);
    await server.requests[0]?.closed;
    expect(server.requests[0]?.wasLeft).toBe(false);
  });

  test("a gate that rejects breaks the answer off: as a refusal before the head, else by a closed socket", async () => {
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    second.promise.catch(() => {});
    await using server = await startModelServer([{ waitFor: first.promise }, { raw: ["a", second.promise] }]);
    void server.request(0).then(() => first.reject(new Error("no luck")));
    const refused = await ask(server);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("no luck")]);
    const response = await ask(server);
    second.reject(new Error("no luck again"));
    await expect(response.text()).rejects.toThrow("terminated");
    expect(server.requests[1]?.wasLeft).toBe(false);
  });

  test.each([
    [0, ""],
    [1, sseFrame(1)],
    [true as const, sseFrame(1) + sseFrame(2)],
  ])("stall: %s stops sending until the client disconnects, which is recorded", async (stall, expected) => {
    await using server = await startModelServer([{ chunks: [1, 2], stall }]);
    const controller = new AbortController();
    const response = await ask(server, { signal: controller.signal });
    const pieces = piecesOf(response);
    let text = "";
    while (text.length < expected.length) text += (await pieces.next()).value ?? "";
    const silence = pieces.next();
    expect(server.requests[0]).toMatchObject({ wasLeft: false, closedAt: undefined });
    controller.abort();
    await expect(silence).rejects.toThrow("aborted");
    await server.requests[0]?.closed;
    expect(text).toBe(expected);
    expect(server.requests[0]).toMatchObject({ wasLeft: true, closedAt: expect.any(Number) });
  });

  test("a client that disconnects before the headers, or between chunks, is recorded immediately", async () => {
    await using server = await startModelServer([
      { waitFor: new Promise(() => {}) },
      { delayMs: Number.POSITIVE_INFINITY },
      { raw: ["a", new Promise(() => {}), "b"] },
      { chunkDelayMs: Number.POSITIVE_INFINITY },
    ]);
    for (let index = 0; index < 4; index++) {
      const controller = new AbortController();
      const asking = ask(server, { signal: controller.signal }).then((response) => response.text());
      const { closed } = await server.request(index);
      controller.abort();
      await expect(asking).rejects.toThrow("aborted");
      await closed;
      expect(server.requests[index]?.wasLeft).toBe(true);
    }
  });
});

describe("a server", () => {
  test("keeps what was asked", async () => {
    await using server = await startModelServer("Hi");
    await (await ask(server, { headers: { "X-Trace": "1" } })).text();
    await (await ask(server, { body: "no JSON" })).text();
    await Promise.all(server.requests.map(({ closed }) => closed));
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/v1/chat/completions",
        headers: { "x-trace": "1" },
        body: { model: "m", stream: true, messages: [] },
        wasLeft: false,
        closedAt: expect.any(Number),
      },
      { body: "no JSON" },
    ]);
  });

  test("lists its models, serves other paths on demand, and names unknown paths", async () => {
    await using server = await startModelServer([], {
      models: ["qwen3:8b", "llama"],
      routes: { "GET /props": { body: { n_ctx: 4096 } } },
    });
    const at = (path: string) => fetch(new URL(path, server.url));
    const models = await (await at("/v1/models")).json();
    expect(models).toMatchObject({
      object: "list",
      data: [{ id: "qwen3:8b", object: "model" }, { id: "llama" }],
    });
    for (let round = 0; round < 2; round++)
      expect(await (await at("/props?verbose=1")).json()).toEqual({ n_ctx: 4096 });
    const missing = await at("/v2/models");
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain("nothing at GET /v2/models: add it to its routes");
    expect(server.requests).toEqual([]);
  });

  test("answers what is beyond its script with 400, and says so when it is disposed of", async () => {
    const server = await startModelServer([]);
    const response = await ask(server);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("was asked 1 times, but its script has 0 answers");
    await expect(server[Symbol.asyncDispose]()).rejects.toThrow(ScriptError);
    await expect(ask(server)).rejects.toThrow("fetch failed");
  });

  test("lists the answers that are left when it is disposed of, after closing", async () => {
    const server = await startModelServer(["a", { text: "b" }]);
    await (await ask(server)).text();
    await expect(server[Symbol.asyncDispose]()).rejects.toThrow('script[1]: {"text":"b"}');
    await expect(ask(server)).rejects.toThrow("fetch failed");
  });

  test("throws an error of its script's functions again when it is disposed of", async () => {
    const server = await startModelServer(({ body }) => {
      expect(body.model).toBe("other");
      return "Hi";
    });
    expect((await ask(server)).status).toBe(400);
    await expect(server[Symbol.asyncDispose]()).rejects.toThrow("expected 'm' to be 'other'");
  });

  test("closes open sockets when it is disposed of, idle and busy ones", async () => {
    const server = await startModelServer([{ text: "Hi" }, { stall: 0 }]);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [idle] = await once(get(`${server.url}/models`, { agent }), "response");
    await once(idle.resume(), "end");
    await (await ask(server)).text();
    const busy = await ask(server);
    await server[Symbol.asyncDispose]();
    await expect(busy.text()).rejects.toThrow("terminated");
    await server[Symbol.asyncDispose]();
  });

  test("ends all that still waits when it is disposed of", async () => {
    const server = await startModelServer([
      { delayMs: 1e6 },
      { chunkDelayMs: 1e6 },
      { stall: true },
      { waitFor: new Promise(() => {}) },
      () => new Promise(() => {}),
    ]);
    const asking = [1, 2, 3, 4, 5].map(() => ask(server).then((response) => response.text()));
    await server.request(4);
    await server[Symbol.asyncDispose]();
    const outcomes = await Promise.allSettled(asking);
    expect(outcomes.map(({ status }) => status)).toEqual(asking.map(() => "rejected"));
    for (const { closedAt } of server.requests) expect(closedAt).toBeDefined();
  });

  test("counts connections", async () => {
    await using server = await startModelServer("Hi");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    for (let round = 0; round < 3; round++) {
      const [response] = await once(get(`${server.url}/models`, { agent }), "response");
      await once(response.resume(), "end");
    }
    expect(server.connectionCount).toBe(1);
  });

  test("refuses answers and options with unknown names", async () => {
    await expect(startModelServer([{ drops: 1 } as object])).rejects.toThrow(
      "script[0].drops: expected one of",
    );
    await expect(startModelServer([], { model: "x" } as object)).rejects.toThrow(
      "options.model: expected one of",
    );
  });
});
