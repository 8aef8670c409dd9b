// The Vercel AI SDK with its provider for OpenAI-compatible servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

export async function runAiSdk({ url, outcome, leaves, signal, idleTimeoutMs }) {
  const provider = createOpenAICompatible({ name: "test", baseURL: url, apiKey: "none", includeUsage: true });
  const result = streamText({
    model: provider("test-model"),
    prompt: "What is 1 + 2?",
    tools: {
      add: tool({
        description: "Add two numbers.",
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        execute: async (input) => {
          outcome.ran.push(["add", input]);
          return input.a + input.b;
        },
      }),
      ping: tool({
        description: "Say that you are there.",
        inputSchema: z.object({}),
        execute: async () => {
          outcome.ran.push(["ping", {}]);
          return "pong";
        },
      }),
    },
    stopWhen: isStepCount(5),
    abortSignal: signal,
    ...(idleTimeoutMs && { timeout: { chunkMs: idleTimeoutMs, stepMs: idleTimeoutMs } }),
    onError: () => {},
  });
  outcome.thinking = "";
  for await (const part of result.fullStream) {
    if (part.type === "reasoning-delta") outcome.thinking += part.text;
    else if (part.type === "error") outcome.error = { message: String(part.error?.message ?? part.error) };
    else if (part.type === "abort") outcome.error = { message: "aborted" };
    else if (part.type === "finish-step") outcome.usage = addUp(outcome.usage, part.usage);
    else if (part.type === "text-delta") {
      outcome.text += part.text;
      if (leaves()) break;
    }
  }
}

function addUp(sum, { inputTokens, outputTokens, totalTokens }) {
  if (inputTokens === undefined) return sum ?? null;
  return {
    inputTokens: inputTokens + (sum?.inputTokens ?? 0),
    outputTokens: outputTokens + (sum?.outputTokens ?? 0),
    totalTokens: totalTokens + (sum?.totalTokens ?? 0),
  };
}
