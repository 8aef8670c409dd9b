// The OpenAI Agents SDK with the chat-completions API.
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

setTracingDisabled(true);

export function contender(url, onCall) {
  const client = new OpenAI({ baseURL: url, apiKey: "none" });
  const model = new OpenAIChatCompletionsModel(client, "bench");
  const add = tool({
    name: "add",
    description: "Add two numbers.",
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => {
      onCall();
      return String(a + b);
    },
  });
  const agent = new Agent({ name: "bench", model, tools: [add] });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    const stream = await run(agent, prompt, { stream: true, maxTurns: 1000 });
    for await (const event of stream) {
      if (event.type !== "raw_model_stream_event" || event.data.type !== "output_text_delta") continue;
      outcome.text += event.data.delta;
      outcome.deltas++;
    }
    await stream.completed;
    return outcome;
  };
}
