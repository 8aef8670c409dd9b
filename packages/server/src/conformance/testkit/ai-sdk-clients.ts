// The AI SDK with both of its providers for the Responses API. It runs its tools itself, step by step.

import { createOpenResponses } from "@ai-sdk/open-responses";
import { createOpenAI } from "@ai-sdk/openai";
import { type FinishReason, generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { maxRounds, type Outcome, type Task, type TestClient } from "./client.ts";
import type { TestServer } from "./start.ts";

type Provider = (server: TestServer, model: string) => LanguageModel;

const openai: Provider = ({ baseURL, fetch }, model) =>
  createOpenAI({ baseURL, fetch, apiKey: "none" }).responses(model);

const openResponses: Provider = ({ baseURL, fetch }, model) =>
  createOpenResponses({ name: "rondo", url: `${baseURL}/responses`, fetch })(model);

function optionsOf(server: TestServer, { model = "test", tools, prompt, signal }: Task, provider: Provider) {
  return {
    model: provider(server, model),
    prompt,
    maxRetries: 0,
    stopWhen: stepCountIs(maxRounds),
    tools: Object.fromEntries(
      tools.map(({ name, description, input, run }) => [
        name,
        tool({ description, inputSchema: input, execute: async (given) => run(given) }),
      ]),
    ),
    abortSignal: signal,
  };
}

async function workPlain(server: TestServer, task: Task, provider: Provider): Promise<Outcome> {
  const { text, steps } = await generateText(optionsOf(server, task, provider));
  return { text, finishes: steps.map(finishOf) };
}

async function workStreamed(server: TestServer, task: Task, provider: Provider): Promise<Outcome> {
  const errors: unknown[] = [];
  const result = streamText({
    ...optionsOf(server, task, provider),
    onError: ({ error }) => void errors.push(error),
  });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") task.onText?.(part.text);
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw new Error("The run was aborted.");
  }
  if (errors.length > 0) throw errors[0];
  return { text: await result.text, finishes: (await result.steps).map(finishOf) };
}

function finishOf({ finishReason }: { finishReason: FinishReason }): string {
  if (finishReason === "tool-calls") return "calls";
  return finishReason === "stop" ? "end" : finishReason;
}

export const aiSdkClients: readonly TestClient[] = [
  {
    name: "@ai-sdk/openai generateText",
    isStreamed: false,
    work: (server, task) => workPlain(server, task, openai),
  },
  {
    name: "@ai-sdk/openai streamText",
    isStreamed: true,
    work: (server, task) => workStreamed(server, task, openai),
  },
  {
    name: "@ai-sdk/open-responses generateText",
    isStreamed: false,
    hidesErrors: true,
    work: (server, task) => workPlain(server, task, openResponses),
  },
  {
    name: "@ai-sdk/open-responses streamText",
    isStreamed: true,
    hidesErrors: true,
    work: (server, task) => workStreamed(server, task, openResponses),
  },
];
