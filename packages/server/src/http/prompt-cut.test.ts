// Model servers that drop the beginning of a prompt and answer with 200.

import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import type { ConfigInput } from "../config/schema.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { createLogger } from "./log.ts";
import { startServer } from "./server.ts";

const story = "It was a dark and stormy night in the old house. ".repeat(200);

/** A server that counts a token for each word, and reads at most `window` of them. */
const reads =
  (window: number): ServerStep =>
  ({ body }) => {
    const tokens = JSON.stringify(body.messages).split(/\W+/).length;
    const inputTokens = Math.min(window, tokens);
    const usage = { inputTokens, outputTokens: 2, totalTokens: inputTokens + 2, cachedTokens: 0 };
    return { text: "Go on.", usage };
  };

async function start(config: ConfigInput) {
  let log = "";
  const logger = createLogger({ write: (lines) => (log += lines) });
  const server = await startServer(resolveConfig({ store: "memory", port: 0, ...config }), { logger });
  const ask = async (body: object) => {
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test-model", ...body }),
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as ResponseObject };
  };
  return { server, ask, log: () => log };
}

test.each(["disabled", "auto"])(
  "a cut is told by a header, the usage and the log, at the first such answer (truncation: %s)",
  async (truncation) => {
    await using model = await startModelServer(reads(3000));
    const { server, ask, log } = await start({ endpoints: [{ url: model.url }] });
    await using _ = server;
    const first = await ask({ input: story, truncation });
    expect(first.headers.get("rondo-prompt-cut")).toBe(null);
    expect(first.body.usage?.input_tokens_details).toEqual({ cached_tokens: 0 });
    const second = await ask({ input: story, truncation, previous_response_id: first.body.id });
    const cut = Number(second.headers.get("rondo-prompt-cut"));
    expect(cut).toBeGreaterThan(100);
    expect(second.body).toMatchObject({
      status: "completed",
      usage: { input_tokens: 3000, input_tokens_details: { cut_tokens: cut } },
    });
    expect(log()).toContain("A model server read only a part of the prompt.");
    expect(log()).toContain(second.body.id);
    const stored = await fetch(`${server.url}/v1/responses/${second.body.id}`);
    expect(((await stored.json()) as ResponseObject).usage?.input_tokens_details.cut_tokens).toBe(cut);
  },
);

test("a known window shows it in the very first answer, and the config can make it an error", async () => {
  await using model = await startModelServer(reads(500));
  const { server, ask } = await start({
    models: { small: { url: model.url, model: "test-model", profile: { contextWindow: 512 } } },
    onPromptCut: "error",
  });
  await using _ = server;
  const { status, body } = await ask({ model: "small", input: story });
  expect({ status, code: body.error?.code }).toEqual({ status: 502, code: "prompt_cut" });
});

test("a request that changes the beginning of the prompt is named in the log", async () => {
  await using model = await startModelServer(reads(100_000));
  const { server, ask, log } = await start({ endpoints: [{ url: model.url }] });
  await using _ = server;
  const first = await ask({ input: "One", instructions: "Be brief." });
  const same = await ask({ input: "Two", instructions: "Be brief.", previous_response_id: first.body.id });
  expect(log()).not.toContain("A prompt changed");
  await ask({ input: "Three", instructions: "Be long.", previous_response_id: same.body.id });
  expect(log()).toContain("A prompt changed, so that the model server cannot use its cache.");
  expect(log()).toContain("message 0 (system) is another");
});
