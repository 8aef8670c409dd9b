// LangChain's agent with its chat model for OpenAI-compatible servers.
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { z } from "zod";

export function contender(url, onCall) {
  const model = new ChatOpenAI({ model: "bench", apiKey: "none", configuration: { baseURL: url } });
  const add = tool(
    async ({ a, b }) => {
      onCall();
      return String(a + b);
    },
    { name: "add", description: "Add two numbers.", schema: z.object({ a: z.number(), b: z.number() }) },
  );
  const agent = createAgent({ model, tools: [add] });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    const input = { messages: [{ role: "user", content: prompt }] };
    for await (const [message] of await agent.stream(input, {
      streamMode: "messages",
      recursionLimit: 10_000,
    })) {
      // Tool results are in the same stream.
      if (message.getType() !== "ai" || message.text === "") continue;
      outcome.text += message.text;
      outcome.deltas++;
    }
    return outcome;
  };
}
