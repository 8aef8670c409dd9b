// Mastra's agent with a model by URL.
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

export function contender(url, onCall) {
  const add = createTool({
    id: "add",
    description: "Add two numbers.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => {
      onCall();
      return { sum: a + b };
    },
  });
  const agent = new Agent({
    id: "bench",
    name: "bench",
    instructions: "Be brief.",
    model: { id: "bench/bench", url, apiKey: "none" },
    tools: { add },
  });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    const stream = await agent.stream(prompt, { maxSteps: 1000 });
    for await (const text of stream.textStream) {
      outcome.text += text;
      outcome.deltas++;
    }
    return outcome;
  };
}
