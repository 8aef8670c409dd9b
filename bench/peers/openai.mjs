// The `openai` package with a hand-written tool loop, as its documentation shows for streams.
import OpenAI from "openai";
import { tools } from "../library/floor.mjs";

export function contender(url, onCall) {
  const client = new OpenAI({ baseURL: url, apiKey: "none" });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    const messages = [{ role: "user", content: prompt }];
    for (;;) {
      const stream = await client.chat.completions.create({ model: "bench", messages, tools, stream: true });
      const toolCalls = [];
      for await (const chunk of stream) {
        const delta = chunk.choices[0]?.delta;
        if (delta?.content) {
          outcome.text += delta.content;
          outcome.deltas++;
        }
        for (const { index, id, function: call } of delta?.tool_calls ?? []) {
          if (toolCalls[index]) toolCalls[index].function.arguments += call.arguments;
          else toolCalls[index] = { id, type: "function", function: { ...call } };
        }
      }
      if (toolCalls.length === 0) return outcome;
      messages.push({ role: "assistant", content: null, tool_calls: toolCalls });
      for (const { id, function: call } of toolCalls) {
        const { a, b } = JSON.parse(call.arguments);
        onCall();
        messages.push({ role: "tool", tool_call_id: id, content: String(a + b) });
      }
    }
  };
}
