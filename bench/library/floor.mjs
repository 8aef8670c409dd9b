// Shared by both floors: a minimal hand-written tool loop.
import { sseParser } from "./sse-lines.mjs";

/** The tool, in the format of the API. */
export const tools = [
  {
    type: "function",
    function: {
      name: "add",
      description: "Add two numbers.",
      parameters: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
    },
  },
];

/** `post` sends a body and passes each chunk of the answer to a function. */
export async function runLoop(post, prompt, onCall, { history = [], moreTools = [] } = {}) {
  const messages = [...history, { role: "user", content: prompt }];
  const offered = [...tools, ...moreTools];
  const outcome = { text: "", thinking: "", deltas: 0 };
  for (;;) {
    const toolCalls = [];
    let text = "";
    let thinking = "";
    const read = sseParser((data) => {
      if (data === "[DONE]") return;
      const delta = JSON.parse(data).choices[0]?.delta;
      if (delta?.content) {
        text += delta.content;
        outcome.deltas++;
      }
      if (delta?.reasoning_content) thinking += delta.reasoning_content;
      if (!delta?.tool_calls) return;
      for (const { index, id, function: call } of delta.tool_calls) {
        const known = toolCalls[index];
        if (known) known.function.arguments += call.arguments;
        else
          toolCalls[index] = {
            id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          };
      }
    });
    await post(JSON.stringify({ model: "bench", messages, tools: offered, stream: true }), read);
    outcome.text += text;
    outcome.thinking += thinking;
    if (toolCalls.length === 0) return outcome;
    messages.push({ role: "assistant", content: null, tool_calls: toolCalls });
    for (const { id, function: call } of toolCalls) {
      const { a, b } = JSON.parse(call.arguments);
      onCall();
      messages.push({ role: "tool", tool_call_id: id, content: String(await add(a, b)) });
    }
  }
}

async function add(a, b) {
  return a + b;
}
