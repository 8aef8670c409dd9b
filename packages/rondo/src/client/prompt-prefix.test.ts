// A model server is fast only while the beginning of the prompt does not change: each request of a client begins with
// exactly the bytes of the one before.

import { describe, expect, onTestFinished, test } from "vitest";
import { setLogger } from "../error/logger.ts";
import { openaiCompatible } from "../model/chat-completions.ts";
import type { ContentPart } from "../model/message.ts";
import { type ModelServer, type ServerStep, startModelServer } from "../testing/model-server.ts";
import { tool } from "../tool/define.ts";
import { Client } from "./client.ts";
import type { ClientOptions } from "./client-options.ts";

const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);
const broken = tool("broken", "Never works.", {}, () => {
  throw new Error("No.");
});
const call = { name: "add", input: { a: 1, b: 2 } };
const image: ContentPart = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };

interface Talk {
  readonly options?: Partial<ClientOptions>;
  readonly prompts?: readonly (string | ContentPart[])[];
  readonly script: readonly ServerStep[];
}

const talks: Record<string, Talk> = {
  "thinking that is sent back": {
    script: [{ thinking: "Hm.", text: "1" }, { thinking: "So.", calls: [call] }, { text: "3" }],
  },
  "parallel calls, and some that cannot run": {
    script: [
      { text: "A moment.", calls: [call, call, { name: "nobody" }, { name: "broken" }] },
      {
        calls: [
          { name: "add", arguments: '{ "a": 1, "b": "x" }' },
          { name: "add", arguments: "{broken" },
        ],
      },
      { text: "3" },
      { text: "Bye." },
    ],
  },
  "permission and hooks": {
    options: {
      canUseTool: ({ input }) => input["a"] === 1 || { continue: false, reason: "not today" },
      hooks: {
        pre_tool_use: [() => ({ modifiedInput: { a: 5, b: 6 } })],
        user_prompt_submit: [({ prompt }) => ({ modifiedPrompt: `${prompt}!` })],
      },
    },
    script: [{ calls: [call, { name: "add", input: { a: 2, b: 2 } }] }, { text: "11" }, { text: "Bye." }],
  },
  "a limit of rounds": {
    options: { maxToolIterations: 1 },
    script: [{ calls: [call] }, { calls: [call] }, { text: "Bye." }],
  },
  images: {
    prompts: [[{ type: "text", text: "What is this?" }, image], "And now?"],
    script: [{ text: "A cat." }, { text: "Still." }],
  },
  "an answer in a shape, tried twice": {
    options: {
      output: { sum: Number },
      profile: { outputMode: "prompt", sendReasoning: "reasoning_content" },
    },
    script: [{ text: "Three." }, { text: '{"sum":3}' }, { text: '{"sum":4}' }],
  },
  "results that are shortened": {
    options: { maxResultTokens: 100, tools: [tool("page", "A page.", {}, () => "words ".repeat(2000))] },
    script: [
      { calls: [{ name: "page" }] },
      { calls: [{ name: "read_result", input: { id: "result_0", offset: 300 } }] },
      { text: "Words." },
      { text: "Bye." },
    ],
  },
  "tools that are found": {
    options: { maxTools: 1 },
    script: [
      { calls: [{ name: "tool_search", input: { query: "adds" } }] },
      { calls: [{ name: "call_tool", input: { name: "add", arguments: { a: 1, b: 2 } } }] },
      { text: "3" },
      { text: "Bye." },
    ],
  },
};

async function start(script: readonly ServerStep[] | ServerStep, options: Partial<ClientOptions> = {}) {
  const warnings: string[] = [];
  setLogger({ warn: (message) => warnings.push(message) });
  onTestFinished(() => setLogger());
  const server = await startModelServer(script, { countsPrompts: true });
  onTestFinished(() => server.close());
  const { profile = { sendReasoning: "reasoning_content" }, ...rest } = options;
  const model = openaiCompatible({ baseURL: server.url, model: "test", profile });
  const client = new Client({
    model,
    systemPrompt: "Be brief.",
    tools: [add, broken],
    autoExecuteTools: true,
    ...rest,
  });
  return { server, client, warnings };
}

function expectStable({ requests }: ModelServer) {
  const texts = requests.map(({ body }) => JSON.stringify(body.messages).slice(0, -1));
  for (const [index, text] of texts.entries())
    expect(text.slice(0, texts[index - 1]?.length ?? 0)).toBe(texts[index - 1] ?? "");
  expect(new Set(requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1);
}

describe("each request of a client begins with the bytes of the one before", () => {
  test.each(Object.entries(talks))("%s", async (_name, { options, prompts = ["One", "Two"], script }) => {
    const { server, client, warnings } = await start(script, options);
    for (const prompt of prompts) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(server.requests.length).toBe(script.length);
    expectStable(server);
    expect(warnings.filter((it) => it.includes("does not begin with"))).toEqual([]);
  });

  test("results that the user gives, and an answer that was interrupted", async () => {
    const { server, client } = await start(
      [{ calls: [call] }, { text: ["Half", " of it"] }, { text: "Whole." }],
      { autoExecuteTools: false },
    );
    await client.query("One");
    for await (const block of client.receiveMessages())
      if (block.type === "tool_use") await client.addToolResult(block.id, { sum: 3 });
    await client.query("");
    for await (const block of client.receiveMessages()) if (block.type === "text") break;
    await client.query("Two");
    for await (const _ of client.receiveMessages());
    expectStable(server);
  });
});

test("a history that was rewritten by hand is a new beginning, and other tools are named", async () => {
  const { client, warnings } = await start({ text: "Hm." });
  for (const prompt of ["One", "Two"]) {
    await client.query(prompt);
    for await (const _ of client.receiveMessages());
    client.messageHistory = client.history.slice(-1);
  }
  expect(warnings).toEqual([]);
});
