// Models that forget to close their thinking: no response ends empty.

import { chatChunks, type ServerStep, startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { createLogger } from "./log.ts";
import { startServer } from "./server.ts";

const add = {
  type: "function",
  name: "add",
  parameters: { type: "object", properties: { a: { type: "number" } } },
};

async function ask(step: ServerStep, profile: { startsThinking?: boolean } = {}) {
  await using model = await startModelServer(step);
  const models = { test: { url: model.url, model: "test-model", profile } };
  await using server = await startServer(resolveConfig({ store: "memory", port: 0, models }), {
    logger: createLogger({ write: () => {} }),
  });
  const reply = await fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", input: "What is 2 + 2?", tools: [add] }),
  });
  const { status, output, incomplete_details } = (await reply.json()) as ResponseObject;
  return {
    status,
    reason: incomplete_details?.reason,
    output: output.filter(({ type }) => type !== "reasoning"),
  };
}

const text = (value: string) => [{ type: "message", content: [{ type: "output_text", text: value }] }];

test.each([
  ["<think>It is 4.", false],
  ["It is 4.", true],
])("%j, all of it thinking, is the text of the response", async (answer, startsThinking) => {
  expect(await ask({ text: answer }, { startsThinking })).toMatchObject({
    status: "completed",
    output: text("It is 4."),
  });
});

test.each([
  ['<think>I add.\n<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>', false],
  ['<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>', true],
])("%j is a call", async (answer, startsThinking) => {
  expect(await ask({ text: answer }, { startsThinking })).toMatchObject({
    output: [{ type: "function_call", name: "add", arguments: '{"a":2}' }],
  });
});

test("thinking that the length limit cut off is an incomplete response", async () => {
  const chunks = chatChunks({ text: "<think>It is", finishReason: "length" });
  expect(await ask({ chunks })).toMatchObject({ status: "incomplete", reason: "max_output_tokens" });
});
