// The Vercel AI SDK with its provider for OpenAI-compatible servers.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

export function contender(url, onCall) {
  const provider = createOpenAICompatible({ name: "bench", baseURL: url, apiKey: "none" });
  const add = tool({
    description: "Add two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => {
      onCall();
      return a + b;
    },
  });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    const result = streamText({
      model: provider("bench"),
      prompt,
      tools: { add },
      stopWhen: isStepCount(1000),
      onError: ({ error }) => {
        throw error;
      },
    });
    for await (const text of result.textStream) {
      outcome.text += text;
      outcome.deltas++;
    }
    return outcome;
  };
}
