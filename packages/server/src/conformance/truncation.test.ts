import { openaiCompatible, tool } from "rondo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test } from "vitest";
import { start } from "./testkit/start.ts";

/** A model server that counts words as tokens, tells its window, and refuses what is longer. */
async function smallModel(window: number, answers: (round: number) => ReturnType<() => ServerStep>) {
  let round = 0;
  const server = await startModelServer(
    (request) => {
      const n = JSON.stringify(request.body?.["messages"]).split(/\W+/).length;
      const message = `request (${n} tokens) exceeds the available context size (${window} tokens)`;
      if (n >= window)
        return { status: 400, body: { error: { message, type: "exceed_context_size_error" } } };
      const answer = answers(round++);
      return typeof answer === "function" ? answer(request) : answer;
    },
    {
      routes: {
        "GET /v1/models": { body: { data: [{ id: "m", owned_by: "llamacpp", meta: { n_ctx: window } }] } },
      },
    },
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

test("truncation: auto learns the window, and cuts again when tool results fill it", async () => {
  const upstream = await smallModel(1200, (round) =>
    round < 6 ? { calls: [{ name: "read", arguments: JSON.stringify({ page: round }) }] } : { text: "Done." },
  );
  const read = tool("read", "Read a page.", { page: Number }, ({ page }) => `${page} `.repeat(300));
  const model = openaiCompatible({ baseURL: upstream.url, model: "m", retry: false });
  const server = await start({
    script: [],
    config: { models: { test: model }, tools: [read], maxAgenticTurns: 20 },
  });
  const ask = (truncation: string) =>
    server.fetch(`${server.baseURL}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test", input: "Read all pages.", truncation, max_output_tokens: 100 }),
    });
  const reply = await ask("auto");
  expect(await reply.json()).toMatchObject({ status: "completed" });
});

test("without it, the full window is a 400 with its own code", async () => {
  const upstream = await smallModel(50, () => "Hi.");
  const model = openaiCompatible({ baseURL: upstream.url, model: "m", retry: false });
  const server = await start({ script: [], config: { models: { test: model } } });
  const reply = await server.fetch(`${server.baseURL}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", input: "word ".repeat(100) }),
  });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { code: "context_length_exceeded", param: "input" } });
});
