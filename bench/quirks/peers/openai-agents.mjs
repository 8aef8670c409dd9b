// The OpenAI Agents SDK with the chat-completions API.
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

setTracingDisabled(true);

export async function runOpenAIAgents({ url, outcome, leaves, signal, idleTimeoutMs }) {
  const client = new OpenAI({
    baseURL: url,
    apiKey: "none",
    ...(idleTimeoutMs && { timeout: idleTimeoutMs }),
  });
  const agent = new Agent({
    name: "test",
    model: new OpenAIChatCompletionsModel(client, "test-model"),
    tools: [
      tool({
        name: "add",
        description: "Add two numbers.",
        parameters: z.object({ a: z.number(), b: z.number() }),
        execute: async (input) => {
          outcome.ran.push(["add", input]);
          return String(input.a + input.b);
        },
      }),
      tool({
        name: "ping",
        description: "Say that you are there.",
        parameters: z.object({}),
        execute: async () => {
          outcome.ran.push(["ping", {}]);
          return "pong";
        },
      }),
    ],
  });
  const stream = await run(agent, "What is 1 + 2?", { stream: true, maxTurns: 5, signal });
  for await (const event of stream) {
    if (event.type !== "raw_model_stream_event" || event.data.type !== "output_text_delta") continue;
    outcome.text += event.data.delta;
    if (leaves()) return;
  }
  await stream.completed;
  const { inputTokens, outputTokens, totalTokens } =
    stream.state.usage ?? stream.rawResponses?.[0]?.usage ?? {};
  if (inputTokens !== undefined) outcome.usage = { inputTokens, outputTokens, totalTokens };
}
