import { describe, expect, onTestFinished, test } from "vitest";
import { PromptWatch } from "../loop/prompt-watch.ts";
import { run } from "../loop/run.ts";
import { openaiCompatible } from "../model/chat-completions.ts";
import { fallback } from "../model/fallback.ts";
import type { Message } from "../model/message.ts";
import type { ModelProvider, ModelRequest } from "../model/provider.ts";
import { type ModelServer, type ServerStep, startModelServer } from "../testing/index.ts";
import { Client } from "./client.ts";
import { fitToWindow } from "./fit-to-window.ts";

/** A server that counts a token for each word, refuses what does not fit, and tells its window or not. */
async function countingServer({
  window,
  says = "all",
  listed = true,
}: {
  window: number;
  says?: "all" | "nothing";
  listed?: boolean;
}): Promise<ModelServer> {
  const answer: ServerStep = ({ body }) => {
    const n = JSON.stringify(body?.["messages"]).split(/\W+/).length;
    if (n < window) return "Fine.";
    const message =
      says === "all"
        ? `request (${n} tokens) exceeds the available context size (${window} tokens), try increasing it`
        : "the input length exceeds the context length";
    return { status: 400, body: { error: { message } } };
  };
  const meta = listed ? { n_ctx: window } : {};
  const server = await startModelServer(answer, {
    routes: { "GET /v1/models": { body: { data: [{ id: "m", owned_by: "llamacpp", meta }] } } },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function talk(turns: number): Message[] {
  return [
    { role: "system", content: "Be brief." },
    ...Array.from({ length: turns }, (_, n): Message[] => [
      { role: "user", content: `Question number ${n} of many` },
      { role: "assistant", content: `Answer number ${n} of many` },
    ]).flat(),
    { role: "user", content: "And now?" },
  ];
}

const modelAt = ({ url }: ModelServer) => openaiCompatible({ baseURL: url, model: "m", retry: false });

async function ask(model: ModelProvider, request: ModelRequest) {
  const deltas = await Array.fromAsync(model.stream(request));
  return {
    text: deltas.map((delta) => (delta.type === "text.delta" ? delta.text : "")).join(""),
    warnings: deltas.filter(({ type }) => type === "warning").length,
  };
}

const sentTo = (server: ModelServer, index: number) =>
  server.requests[index]?.body?.["messages"] as Message[];

describe("fitToWindow", () => {
  test("leaves out the oldest turns by the window that the server tells", async () => {
    const server = await countingServer({ window: 2000 });
    const messages = talk(300);
    expect(await ask(fitToWindow(modelAt(server)), { messages })).toEqual({ text: "Fine.", warnings: 0 });
    const sent = sentTo(server, 0);
    expect(server.requests).toHaveLength(1);
    expect(sent.length).toBeLessThan(messages.length);
    expect([sent[0], sent.at(-1)]).toEqual([messages[0], messages.at(-1)]);
    expect(sent[1]?.role).toBe("user");
  });

  test.each([
    ["by the server's own count", "all", 2],
    ["without one, by a third each time", "nothing", 4],
  ] as const)("cuts again when the server says no: %s", async (_, says, most) => {
    const server = await countingServer({ window: 1300, says, listed: false });
    const { text, warnings } = await ask(fitToWindow(modelAt(server)), { messages: talk(200) });
    expect(text).toBe("Fine.");
    expect(warnings).toBe(server.requests.length - 1);
    expect(server.requests.length).toBeGreaterThan(1);
    expect(server.requests.length).toBeLessThanOrEqual(most);
  });

  test("gives up after three cuts, and when nothing can be left out", async () => {
    const server = await countingServer({ window: 20, says: "nothing", listed: false });
    const refused = { code: "context_length_exceeded" };
    await expect(ask(fitToWindow(modelAt(server)), { messages: talk(500) })).rejects.toMatchObject(refused);
    expect(server.requests).toHaveLength(4);
    const long: Message[] = [{ role: "user", content: "word ".repeat(5000) }];
    await expect(ask(fitToWindow(modelAt(server)), { messages: long })).rejects.toMatchObject(refused);
    expect(server.requests).toHaveLength(5);
  });

  test("keeps the beginning of the prompt over the next rounds", async () => {
    const server = await countingServer({ window: 2000 });
    const model = fitToWindow(modelAt(server));
    const messages = talk(300);
    await ask(model, { messages });
    for (let round = 1; round <= 5; round += 1) {
      messages.push({ role: "assistant", content: "Fine." }, { role: "user", content: `Round ${round}?` });
      await ask(model, { messages });
      expect(sentTo(server, round).slice(0, -2)).toEqual(sentTo(server, round - 1));
    }
  });

  test("lets the answer have at most half of the window", async () => {
    const server = await countingServer({ window: 1000 });
    await ask(fitToWindow(modelAt(server)), { messages: talk(1), settings: { maxTokens: 4096 } });
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 500 });
  });

  test("other errors pass, and a conversation that fits is unchanged", async () => {
    await using server = await startModelServer([{ status: 400 }, "Fine."]);
    const model = fitToWindow(modelAt(server));
    await expect(ask(model, { messages: talk(1) })).rejects.toMatchObject({ code: "model_request" });
    await ask(model, { messages: talk(1) });
    expect(sentTo(server, 1)).toEqual(talk(1));
  });

  test("leaving while the server is asked for its window sends nothing", async () => {
    const asked = Promise.withResolvers<void>();
    const routes: Record<string, ServerStep> = {
      "GET /v1/models": () => {
        asked.resolve();
        return { body: "", waitFor: new Promise(() => {}) };
      },
    };
    await using server = await startModelServer([], { routes });
    const answer = fitToWindow(modelAt(server)).stream({ messages: talk(1) });
    const stream = answer[Symbol.asyncIterator]();
    const step = stream.next();
    await asked.promise;
    await stream.return?.();
    expect(await step).toEqual({ done: true, value: undefined });
  });
});

test("a client with truncation: auto cuts what it sends, and keeps its history", async () => {
  const server = await countingServer({ window: 600 });
  const client = new Client({ baseURL: server.url, model: "m", truncation: "auto", maxTokens: 100 });
  client.messageHistory = talk(100).slice(1, -1);
  await client.query("And now?");
  for await (const _ of client.receiveMessages());
  expect(client.result?.text).toBe("Fine.");
  expect(client.history).toHaveLength(202);
  expect(sentTo(server, 0).length).toBeLessThan(150);
});

describe("a cut by the server that nobody asked for", () => {
  const story = "It was a dark and stormy night in the old house. ".repeat(200);

  /** A server that reads at most `window` words, and answers with 200. */
  const reads =
    (window: number): ServerStep =>
    ({ body }) => {
      const inputTokens = Math.min(window, JSON.stringify(body?.["messages"]).split(/\W+/).length);
      return {
        text: "Go on.",
        usage: { inputTokens, outputTokens: 2, totalTokens: inputTokens + 2, cachedTokens: 0 },
      };
    };

  async function cutsIn(model: ModelProvider, prompts: number, promptWatch = new PromptWatch()) {
    const messages: Message[] = [];
    const cuts: number[] = [];
    for (let index = 0; index < prompts; index += 1) {
      messages.push({ role: "user", content: story });
      // A view of the model for each request, as the server has them.
      for await (const event of run(messages, { model: fitToWindow(model), promptWatch })) {
        if (event.type === "prompt.cut") cuts.push(index);
        if (event.type === "model.finished") messages.push(event.message);
      }
    }
    return cuts;
  }

  test("is seen though the conversation is fitted to the window, at the first such answer", async () => {
    await using server = await startModelServer(reads(3000));
    expect(await cutsIn(modelAt(server), 2)).toEqual([1]);
    expect(await cutsIn(fallback(modelAt(server), modelAt(server)), 2)).toEqual([1]);
  });

  test("is not mistaken for what was left out before the request", async () => {
    const server = await startModelServer(reads(1_000_000), {
      routes: { "GET /v1/models": { body: { data: [{ id: "m", meta: { n_ctx: 6000 } }] } } },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    expect(await cutsIn(modelAt(server), 8)).toEqual([]);
    expect(sentTo(server, 7).length).toBeLessThan(15);
  });

  test("is an error of a client with truncation: auto, if asked for", async () => {
    await using server = await startModelServer(reads(3000));
    const client = new Client({
      baseURL: server.url,
      model: "m",
      truncation: "auto",
      onPromptCut: "error",
    });
    const ask = async () => {
      await client.query(story);
      for await (const _ of client.receiveMessages());
    };
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: "prompt_cut" });
  });
});
