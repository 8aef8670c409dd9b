// LangChain's chat model, with the tool loop from its documentation.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

export async function runLangChain({ url, outcome, leaves, signal, idleTimeoutMs }) {
  const tools = [
    tool(
      async (input) => {
        outcome.ran.push(["add", input]);
        return String(input.a + input.b);
      },
      { name: "add", description: "Add two numbers.", schema: z.object({ a: z.number(), b: z.number() }) },
    ),
    tool(
      async () => {
        outcome.ran.push(["ping", {}]);
        return "pong";
      },
      { name: "ping", description: "Say that you are there.", schema: z.object({}) },
    ),
  ];
  const model = new ChatOpenAI({
    model: "test-model",
    apiKey: "none",
    configuration: { baseURL: url },
    maxRetries: 2,
    streamUsage: true,
    ...(idleTimeoutMs && { timeout: idleTimeoutMs }),
  }).bindTools(tools);
  const messages = [new HumanMessage("What is 1 + 2?")];
  for (let step = 0; step < 5; step++) {
    let message;
    for await (const chunk of await model.stream(messages, { signal })) {
      message = message ? message.concat(chunk) : chunk;
      if (chunk.text === "") continue;
      outcome.text += chunk.text;
      if (leaves()) return;
    }
    const {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: totalTokens,
    } = message?.usage_metadata ?? {};
    if (step === 0)
      outcome.usage = inputTokens === undefined ? null : { inputTokens, outputTokens, totalTokens };
    const { tool_calls: calls = [], invalid_tool_calls: invalid = [] } = message ?? {};
    if (calls.length + invalid.length === 0) return;
    messages.push(message);
    for (const call of calls) messages.push(await answer(call, tools));
    for (const { id, name, error } of invalid)
      messages.push(new ToolMessage({ tool_call_id: id, name, status: "error", content: `Error: ${error}` }));
  }
}

async function answer(call, tools) {
  const found = tools.find(({ name }) => name === call.name);
  try {
    if (found) return await found.invoke(call);
    throw new Error(`there is no tool ${call.name}`);
  } catch (error) {
    return new ToolMessage({
      tool_call_id: call.id,
      name: call.name,
      status: "error",
      content: `Error: ${error.message}`,
    });
  }
}
