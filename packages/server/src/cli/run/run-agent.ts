// Runs an agent: its queued turns, and the input as a question to its model.

import type { Agent, Turn } from "rondo";
import { UsageError } from "../cli-io.ts";
import type { Emit, Ending } from "./run-event.ts";
import { isThinking, ofTurn, ValueReader } from "./value-reader.ts";

/** Recognised by its shape: the file may have its own copy of the library. */
export function isAgent(value: unknown): value is Agent {
  const { run, ask, put, tools } = Object(value) as Partial<Agent>;
  const areMethods = [run, ask, put].every((method) => typeof method === "function");
  return areMethods && Array.isArray(tools);
}

/** Runs until the queue is empty. Throws the error of a turn, or a `UsageError` if there is nothing to do. */
export async function runAgent(
  agent: Agent,
  input: string | undefined,
  emit: Emit,
  signal: AbortSignal,
): Promise<Ending> {
  if (input !== undefined) {
    if (!agent.modelSetup)
      throw new UsageError(
        `The agent '${agent.name}' has no model, so it cannot be asked. Give it one (\`model: ollama("qwen3:8b")\`), or leave out --input.`,
      );
    await agent.ask(input);
  }
  if (!nextTurn(agent))
    throw new UsageError(
      `The agent '${agent.name}' has nothing to do. ${
        agent.modelSetup ? "Ask it something with --input" : "Queue a turn in the file (`await agent.put(…)`)"
      }.`,
    );

  const reader = new ValueReader();
  agent.beforeTurn(async () => {
    const turn = nextTurn(agent);
    if (turn && !isThinking(turn)) emit({ type: "turn.started", ...ofTurn(turn), input: turn.input });
  });
  agent.afterTurn(async (_, turn) => {
    if (!isThinking(turn)) emit({ type: "turn.finished", ...ofTurn(turn) });
  });
  for await (const [turn, value] of agent.run({ signal }))
    for (const event of reader.read(value, turn)) emit(event);
  return reader.ending;
}

function nextTurn(agent: Agent): Turn | undefined {
  return agent.currentTurn ?? agent.turns[0];
}
