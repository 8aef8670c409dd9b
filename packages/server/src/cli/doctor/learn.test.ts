import { openaiCompatible } from "rondo";
import type { ModelProfile } from "rondo/models";
import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { runCli } from "../program.ts";
import { testIo } from "../testkit/test-io.ts";
import { dialectsIn } from "./chat-template.ts";

const template = "{{ tools }}<tool_call>\n<function=name>{% if add_generation_prompt %}<think>{% endif %}";

/** A model whose template opens the thinking, that writes calls into its text, and enforces shapes. */
const able: ServerStep = ({ body }) => {
  const prompt = JSON.stringify(body?.["messages"]);
  if (prompt.split("word").length > 1000) {
    const message = "request (2500 tokens) exceeds the available context size (2048 tokens)";
    return { status: 400, body: { error: { message, type: "exceed_context_size_error" } } };
  }
  if (body?.["response_format"]) return '{"done":true}';
  const call = (name: string, key: string, value: string) =>
    `<tool_call><function=${name}><parameter=${key}>${value}</parameter></function></tool_call>`;
  if (!body?.["tools"]) return "Hm.</think>pong";
  const text = prompt.includes("Rome")
    ? `${call("get_weather", "city", "Paris")}\n${call("get_weather", "city", "Rome")}`
    : call("add", "a", "25");
  return `Hm.</think>${text}`;
};

async function learn(args: readonly string[]) {
  const io = testIo();
  const exitCode = await runCli(["doctor", ...args], io);
  return { exitCode, out: io.out };
}

test("--learn prints what works, and a profile that works when it is pasted", async () => {
  await using server = await startModelServer(able, {
    routes: {
      "GET /v1/models": { body: { data: [{ id: "mine", owned_by: "vllm", max_model_len: 2048 }] } },
      "GET /props": { body: { chat_template: template } },
    },
  });
  const { exitCode, out } = await learn(["--learn", server.url]);
  expect(exitCode).toBe(0);
  expect(out).toContain("mine on vllm, by the owner 'vllm' of its models");
  for (const line of [
    "✓ chat template: calls as qwen-coder, hermes",
    "✓ thinking: the template opens it, in the text",
    "✓ a call: add",
    "✓ parallel calls: 2 in one answer",
    "✓ a shape: the server enforces it",
    "✓ a long input: refused beyond its window of 2048 tokens",
  ])
    expect(out).toContain(line);

  const pasted = /^profile: (.*)$/m.exec(out)?.[1] ?? "";
  const profile = JSON.parse(pasted) as Partial<ModelProfile>;
  expect(profile).toEqual({
    toolDialects: ["qwen-coder", "hermes", "bare-json"],
    startsThinking: true,
    outputMode: "native",
    honoursToolChoice: true,
    contextWindow: 2048,
  });
  const model = openaiCompatible({ baseURL: server.url, model: "mine", profile });
  const deltas = await Array.fromAsync(model.stream({ messages: [{ role: "user", content: "Hi." }] }));
  expect(deltas).toContainEqual({ type: "text.delta", text: "pong" });
  expect(resolveConfig({ endpoints: [{ url: server.url, profile }] }).endpoints[0]?.profile).toEqual(profile);
});

test("--learn tells what a plain model cannot do, as JSON too", async () => {
  await using server = await startModelServer({
    text: "I am a plain model.",
    usage: { inputTokens: 100, outputTokens: 5, totalTokens: 105 },
  });
  const { exitCode, out } = await learn(["--learn", server.url, "--json"]);
  expect(exitCode).toBe(0);
  const { table, profile } = JSON.parse(out) as {
    table: { ability: string; works: boolean }[];
    profile: unknown;
  };
  expect(table.filter(({ works }) => !works).map(({ ability }) => ability)).toEqual([
    "chat template",
    "a call",
    "parallel calls",
    "a shape",
    "a long input",
  ]);
  expect(profile).toMatchObject({ outputMode: "prompt", startsThinking: false });
});

test("--learn says what to do where no server answers", async () => {
  const server = await startModelServer([]);
  await server.close();
  const { exitCode, out } = await learn(["--learn", server.url]);
  expect(exitCode).toBe(1);
  expect(out).toContain("nothing listens there");
});

test.each([
  ["{% for t in tools %}[TOOL_CALLS]", ["mistral"]],
  ["<|channel|>commentary", ["harmony"]],
  ["plain", []],
])("the template %j tells the dialects %j", (text, dialects) => {
  expect(dialectsIn(text)).toEqual(dialects);
});
