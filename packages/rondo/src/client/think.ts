// An agent's thinking: the one loop with the agent's tools, as one turn of a streaming tool.

import type { ModelSetup, Prompt } from "../agent/thinking.ts";
import { ContextItem } from "../context/context-item.ts";
import { warn } from "../error/logger.ts";
import { run } from "../loop/run.ts";
import type { Message } from "../model/message.ts";
import type { ToolContext } from "../tool/tool-context.ts";
import { Turn } from "../turn/turn.ts";
import { type Block, BlockReader } from "./blocks.ts";
import type { ResultMessage } from "./query.ts";

/**
 * Yields blocks as they come, the turns and context items of tools, which the agent routes, and last a context item
 * with the prompt and the answer. Returns the result.
 */
export async function* think(
  { model, instructions, settings, maxToolIterations, maxRepeats, describeContext }: ModelSetup,
  prompt: Prompt,
  { agent, signal, tracer }: ToolContext,
): AsyncGenerator<Block | Turn | ContextItem, ResultMessage, void> {
  const system = [instructions, agent ? describeContext(agent) : ""]
    .filter((part) => part !== "")
    .join("\n\n");
  const messages: Message[] = [{ role: "user", content: prompt }];
  if (system !== "") messages.unshift({ role: "system", content: system });

  const toRoute: (Turn | ContextItem)[] = [];
  const events = run(messages, {
    model,
    settings,
    maxToolIterations,
    ...(maxRepeats !== undefined && { maxRepeats }),
    tellsCallPieces: false,
    tools: agent?.tools ?? [],
    ...(agent && { agent }),
    signal,
    ...(tracer && { onTrace: tracer }),
    routeResult: async (value) => {
      if (!(value instanceof Turn) && !(value instanceof ContextItem)) return undefined;
      toRoute.push(value);
      return value instanceof Turn ? "queued" : "noted";
    },
  });
  const reader = new BlockReader();
  let text = "";
  for await (const event of events) {
    const block = reader.read(event);
    if (block) yield block;
    yield* toRoute.splice(0);
    if (event.type === "prompt.changed" || event.type === "prompt.cut") warn(event.message);
    if (event.type === "model.finished") text = event.message.content ?? "";
    if (event.type === "tool.finished") {
      const result = reader.readResult(event);
      if (result) yield result;
    }
    if (event.type !== "run.finished") continue;
    signal.throwIfAborted();
    yield new ContextItem({
      content: `User: ${typeof prompt === "string" ? prompt : "(with images)"}\nYou: ${text}`,
    });
    return { type: "result", text, output: undefined, usage: event.usage, stopReason: event.reason };
  }
  signal.throwIfAborted();
  throw new Error("The loop has ended without a result.");
}
