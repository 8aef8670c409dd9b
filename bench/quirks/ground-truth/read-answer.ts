// An answer, streamed in pieces to Rondo as a user's program has it.

import { Client, tool } from "rondo";
import { chatChunks, doneFrame, sseFrame } from "rondo/testing";
import type { Call, Task } from "./tasks.ts";

export interface Reading {
  readonly calls: readonly Call[];
  readonly text: string;
  readonly thinking: string;
  /** Calls that were reported to the model instead of run. */
  readonly rejected: number;
}

/**
 * Text of the answer in pieces, or calls as a server sends those that it parsed itself. `startsThinking` is the one
 * fact that the text does not show: `rondo doctor --learn` takes it from the template.
 */
export type Answer =
  | { readonly pieces: readonly string[]; readonly startsThinking: boolean }
  | { readonly calls: readonly Call[] };

/** The name says nothing about the dialect: it has to be seen in the text. */
const modelName = "local-model";

export async function readAnswer(task: Task, answer: Answer): Promise<Reading> {
  const content = "pieces" in answer ? { text: answer.pieces } : { calls: nativeCalls(answer.calls) };
  const body = [...chatChunks(content).map(sseFrame), doneFrame].join("");
  await using client = new Client({
    baseURL: "http://127.0.0.1:9/v1",
    model: modelName,
    profile: { startsThinking: "startsThinking" in answer && answer.startsThinking },
    fetch: async () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
    tools: task.functions.map(({ name, description, parameters }) =>
      // The short form does not register: the same name comes up in many tasks.
      tool(name, description, parameters, () => ""),
    ),
  });
  await client.query(task.prompt);
  const calls: Call[] = [];
  let text = "";
  let thinking = "";
  let rejected = 0;
  for await (const block of client.receiveMessages()) {
    if (block.type === "text") text += block.text;
    if (block.type === "thinking") thinking += block.thinking;
    if (block.type === "tool_use") calls.push({ name: block.name, arguments: block.input });
    if (block.type === "tool_use_error") rejected++;
  }
  return { calls, text, thinking, rejected };
}

function nativeCalls(calls: readonly Call[]): { name: string; input: Record<string, unknown> }[] {
  return calls.map((call) => ({ name: call.name, input: call.arguments }));
}
