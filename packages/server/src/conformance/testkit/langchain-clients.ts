// LangChain's model for the Responses API, with the loop that its users write.

import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { maxRounds, type Outcome, type Task, type TestClient } from "./client.ts";
import type { TestServer } from "./start.ts";

async function work({ baseURL, fetch }: TestServer, task: Task, isStreamed: boolean): Promise<Outcome> {
  const { model = "test", tools, signal } = task;
  const chat = new ChatOpenAI({
    model,
    apiKey: "none",
    useResponsesApi: true,
    maxRetries: 0,
    configuration: { baseURL, fetch },
  }).bindTools(
    tools.map(({ name, description, input, run }) => tool(run, { name, description, schema: input })),
  );
  const messages: BaseMessage[] = [new HumanMessage(task.prompt)];
  const finishes: string[] = [];
  for (let round = 0; round < maxRounds; round++) {
    const answer: AIMessage = isStreamed
      ? await gather(await chat.stream(messages, { signal }), task)
      : await chat.invoke(messages, { signal });
    finishes.push(finishOf(answer));
    const { tool_calls: calls = [] } = answer;
    if (calls.length === 0) return { text: answer.text, finishes };
    messages.push(answer);
    for (const { id = "", name, args } of calls) {
      const called = tools.find((known) => known.name === name);
      if (!called) throw new Error(`The client is to run '${name}', which it does not have.`);
      messages.push(new ToolMessage({ tool_call_id: id, content: called.run(called.input.parse(args)) }));
    }
  }
  throw new Error("The model never came to an end.");
}

async function gather(stream: AsyncIterable<AIMessageChunk>, { onText }: Task): Promise<AIMessage> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) {
    if (chunk.text !== "") onText?.(chunk.text);
    whole = whole ? whole.concat(chunk) : chunk;
  }
  if (!whole) throw new Error("The stream had nothing in it.");
  return whole;
}

function finishOf({ response_metadata: metadata, tool_calls: calls = [] }: AIMessage): string {
  const { status, incomplete_details: details } = metadata as {
    status?: string;
    incomplete_details?: { reason?: string } | null;
  };
  if (status === "completed" && calls.length > 0) return "calls";
  if (details?.reason === "max_output_tokens") return "length";
  return status === "completed" ? "end" : `${status} ${details?.reason}`;
}

export const langchainClients: readonly TestClient[] = [
  { name: "@langchain/openai invoke", isStreamed: false, work: (server, task) => work(server, task, false) },
  { name: "@langchain/openai stream", isStreamed: true, work: (server, task) => work(server, task, true) },
];
