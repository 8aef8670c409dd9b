// The OpenAI Agents SDK: it runs its tools itself, and throws at calls to tools that it does not have.

import { Agent, type ModelResponse, OpenAIProvider, Runner, tool } from "@openai/agents";
import type { Outcome, Task, TestClient } from "./client.ts";
import { openaiClient } from "./openai-clients.ts";
import type { TestServer } from "./start.ts";

function prepare(server: TestServer, { model = "test", tools }: Task): { runner: Runner; agent: Agent } {
  const modelProvider = new OpenAIProvider({ openAIClient: openaiClient(server), useResponses: true });
  const agent = new Agent({
    name: "Tester",
    model,
    tools: tools.map(({ name, description, input, run }) =>
      // What a tool throws is to fail the test, and not to be told to the model.
      tool({ name, description, parameters: input, execute: run, errorFunction: null }),
    ),
  });
  return { runner: new Runner({ modelProvider, tracingDisabled: true }), agent };
}

async function workPlain(server: TestServer, task: Task): Promise<Outcome> {
  const { runner, agent } = prepare(server, task);
  const { finalOutput, rawResponses } = await runner.run(agent, task.prompt, { signal: task.signal });
  return { text: String(finalOutput), finishes: rawResponses.map(finishOf) };
}

async function workStreamed(server: TestServer, task: Task): Promise<Outcome> {
  const { runner, agent } = prepare(server, task);
  const result = await runner.run(agent, task.prompt, { signal: task.signal, stream: true });
  for await (const event of result)
    if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
      task.onText?.(event.data.delta);
  await result.completed;
  if (result.cancelled) throw new Error("The run was aborted.");
  return { text: String(result.finalOutput), finishes: result.rawResponses.map(finishOf) };
}

function finishOf({ output }: ModelResponse): string {
  return output.some(({ type }) => type === "function_call") ? "calls" : "end";
}

export const agentsClients: readonly TestClient[] = [
  { name: "@openai/agents", isStreamed: false, throwsAtIncomplete: true, work: workPlain },
  { name: "@openai/agents streamed", isStreamed: true, throwsAtIncomplete: true, work: workStreamed },
];
