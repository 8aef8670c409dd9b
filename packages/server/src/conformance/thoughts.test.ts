// Thoughts of a model: clients show them, once, and they go back to the model with the next request.

import { createOpenResponses } from "@ai-sdk/open-responses";
import { createOpenAI } from "@ai-sdk/openai";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import type OpenAI from "openai";
import { Client, responsesModel, tool as rondoTool } from "rondo";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ConfigInput } from "../config/schema.ts";
import { openaiClient } from "./testkit/openai-clients.ts";
import { start, type TestServer } from "./testkit/start.ts";

const script = [
  { thinking: ["I ", "add."], calls: [{ name: "add", input: { a: 2, b: 3 } }] },
  { thinking: ["That ", "is 5."], text: "5." },
];
const thoughts = ["I add.", "That is 5."];
const input = z.object({ a: z.number(), b: z.number() });
const sum = ({ a, b }: z.infer<typeof input>) => String(a + b);
const functionTool: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "add",
  parameters: z.toJSONSchema(input),
  strict: true,
};

/** What a client showed, in two rounds. */
type Show = (server: TestServer) => Promise<readonly string[]>;

function aiSdk(model: (server: TestServer) => LanguageModel, isStreamed: boolean, store = true): Show {
  return async (server) => {
    const options = {
      model: model(server),
      prompt: "Add!",
      stopWhen: stepCountIs(3),
      tools: { add: tool({ description: "Adds.", inputSchema: input, execute: async (it) => sum(it) }) },
      ...(!store && {
        providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
      }),
    };
    if (!isStreamed) return (await generateText(options)).steps.map((step) => step.reasoningText ?? "");
    const result = streamText(options);
    const shown: string[] = [];
    for await (const part of result.fullStream) {
      if (part.type === "start-step") shown.push("");
      if (part.type === "reasoning-delta") shown.push((shown.pop() ?? "") + part.text);
      if (part.type === "error") throw part.error;
    }
    return shown;
  };
}

const aiOpenAI = ({ baseURL, fetch }: TestServer) =>
  createOpenAI({ baseURL, fetch, apiKey: "none" }).responses("test");
const aiOpenResponses = ({ baseURL, fetch }: TestServer) =>
  createOpenResponses({ name: "rondo", url: `${baseURL}/responses`, fetch })("test");

function openai(isStreamed: boolean, kind: "chained" | "sent again" | "sealed"): Show {
  return async (server) => {
    const client = openaiClient(server);
    const shown: string[] = [];
    const history: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Add!" }];
    let sent = history;
    let previous: string | undefined;
    for (let round = 0; round < 2; round++) {
      const body = {
        model: "test",
        input: [...sent],
        tools: [functionTool],
        ...(kind === "chained" ? { previous_response_id: previous ?? null } : { store: false }),
        ...(kind === "sealed" && { include: ["reasoning.encrypted_content" as const] }),
      };
      let text = "";
      let response: OpenAI.Responses.Response;
      if (isStreamed) {
        const stream = client.responses.stream(body);
        stream.on("response.reasoning_summary_text.delta", ({ delta }) => {
          text += delta;
        });
        response = await stream.finalResponse();
      } else {
        response = await client.responses.create(body);
        for (const item of response.output)
          if (item.type === "reasoning") text += item.summary.map((part) => part.text).join("");
      }
      shown.push(text);
      previous = response.id;
      const call = response.output.find((item) => item.type === "function_call");
      if (!call) break;
      const result = { type: "function_call_output" as const, call_id: call.call_id, output: "5" };
      const kept = response.output.map((item) =>
        kind === "sealed" && item.type === "reasoning" ? { ...item, summary: [] } : item,
      );
      history.push(...(kept as OpenAI.Responses.ResponseInputItem[]), result);
      sent = kind === "chained" ? [result] : history;
    }
    return shown;
  };
}

function agents(isStreamed: boolean): Show {
  return async (server) => {
    const add = agentTool({ name: "add", description: "Adds.", parameters: input, execute: sum });
    const agent = new Agent({ name: "Tester", model: "test", tools: [add] });
    const modelProvider = new OpenAIProvider({ openAIClient: openaiClient(server), useResponses: true });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const result = isStreamed
      ? await runner.run(agent, "Add!", { stream: true })
      : await runner.run(agent, "Add!");
    if ("completed" in result) {
      for await (const _ of result);
      await result.completed;
    }
    return result.rawResponses.map(({ output }) =>
      output
        .flatMap((item) => (item.type === "reasoning" ? item.content.map(({ text }) => text) : []))
        .join(""),
    );
  };
}

function langchain(isStreamed: boolean): Show {
  return async ({ baseURL, fetch }) => {
    const chat = new ChatOpenAI({
      model: "test",
      apiKey: "none",
      useResponsesApi: true,
      configuration: { baseURL, fetch },
    }).bindTools([langchainTool(sum, { name: "add", description: "Adds.", schema: input })]);
    const messages: BaseMessage[] = [new HumanMessage("Add!")];
    const shown: string[] = [];
    for (let round = 0; round < 2; round++) {
      let answer: AIMessage | undefined;
      if (isStreamed)
        for await (const chunk of await chat.stream(messages))
          answer = answer ? (answer as typeof chunk).concat(chunk) : chunk;
      else answer = await chat.invoke(messages);
      if (!AIMessage.isInstance(answer)) throw new Error("There was no answer.");
      shown.push(
        answer.contentBlocks.map((block) => (block.type === "reasoning" ? block.reasoning : "")).join(""),
      );
      messages.push(answer);
      for (const { id = "" } of answer.tool_calls ?? [])
        messages.push(new ToolMessage({ tool_call_id: id, content: "5" }));
    }
    return shown;
  };
}

const rondo: Show = async (server) => {
  const add = rondoTool("add", "Adds.", { a: Number, b: Number }, sum);
  const profile = { sendReasoning: "reasoning" as const };
  const model = responsesModel(server.baseURL, { model: "test", profile });
  await using client = new Client({ model, tools: [add], autoExecuteTools: true });
  await client.query("Add!");
  const shown: string[] = [""];
  for await (const block of client.receiveMessages()) {
    if (block.type === "thinking") shown.push((shown.pop() ?? "") + block.thinking);
    if (block.type === "tool_result") shown.push("");
  }
  return shown;
};

const shows: [string, Show][] = [
  ["openai create, chained", openai(false, "chained")],
  ["openai create, sent again", openai(false, "sent again")],
  ["openai create, sealed", openai(false, "sealed")],
  ["openai stream, chained", openai(true, "chained")],
  ["openai stream, sent again", openai(true, "sent again")],
  ["openai stream, sealed", openai(true, "sealed")],
  ["@openai/agents", agents(false)],
  ["@openai/agents streamed", agents(true)],
  ["@ai-sdk/openai generateText", aiSdk(aiOpenAI, false)],
  ["@ai-sdk/openai streamText", aiSdk(aiOpenAI, true)],
  ["@ai-sdk/openai generateText, sealed", aiSdk(aiOpenAI, false, false)],
  ["@ai-sdk/openai streamText, sealed", aiSdk(aiOpenAI, true, false)],
  ["@ai-sdk/open-responses generateText", aiSdk(aiOpenResponses, false)],
  ["@ai-sdk/open-responses streamText", aiSdk(aiOpenResponses, true)],
  ["@langchain/openai invoke", langchain(false)],
  ["@langchain/openai stream", langchain(true)],
  ["rondo's responsesModel()", rondo],
];

async function shownBy(show: Show, compat?: ConfigInput["compat"]) {
  const server = await start({ script, config: compat && { compat } });
  const shown = await show(server);
  expect(server.exchanges.flaws()).toEqual([]);
  server.model.assertUsedUp();
  const sentBack = server.model.requests[1]?.messages.find(({ role }) => role === "assistant");
  return { shown, sentBack };
}

describe("the thoughts of a model", () => {
  test.each(shows)("are shown once by %s, and go back to the model", async (_name, show) => {
    const { shown, sentBack } = await shownBy(show);
    expect(shown).toEqual(thoughts);
    expect(sentBack).toMatchObject({ reasoning: "I add.", tool_calls: [{ function: { name: "add" } }] });
  });

  test.each(["content", "both"] as const)(
    "come as %s too, and responsesModel() reads them once",
    async (form) => {
      const { shown, sentBack } = await shownBy(rondo, { thoughts: form });
      expect(shown).toEqual(thoughts);
      expect(sentBack).toMatchObject({ reasoning: "I add." });
      expect((await shownBy(openai(true, "sealed"), { thoughts: form })).sentBack).toMatchObject({
        reasoning: "I add.",
      });
    },
  );
});
