// What the loop does, in the words of traces.

import type { JsonObject } from "../json/json-value.ts";
import type { AssistantMessage } from "../model/message.ts";
import type { FinishReason, ModelDelta, ModelProvider, ModelRequest, Usage } from "../model/provider.ts";
import type { NewEvent } from "../trace/run-trace.ts";
import type { TraceEvent } from "../trace/trace.ts";
import type { CheckedCall, RawCall } from "./check-call.ts";

type Without<T extends TraceEvent["type"], K extends string> = Omit<Extract<TraceEvent, { type: T }>, K>;

/** An answer that was read to its end. */
interface ReadAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly RawCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage | undefined;
  readonly timings?: JsonObject | undefined;
}

export function askedOf(
  request: ModelRequest,
  model: ModelProvider,
): Without<"model.asked", "type" | "atMs" | "answer"> {
  const { contextWindow } = model.profile;
  const { messages, tools, settings, output } = request;
  const count = messages.length; // the conversation grows
  return {
    model: model.name,
    endpoint: model.endpoint,
    messages: count,
    tools: tools?.length ?? 0,
    ...(contextWindow !== undefined && { contextWindow }),
    request: () => ({
      messages: messages.slice(0, count),
      ...(tools && { tools }),
      ...(settings && { settings }),
      ...(output && { output }),
    }),
  };
}

export function finishedOf(answer: ReadAnswer): Without<"model.finished", "type" | "atMs" | "answer"> {
  const { finishReason, usage, timings } = answer;
  const message = messageOf(answer);
  return {
    finishReason,
    ...(usage && { usage }),
    ...(timings && { timings }),
    message: () => message,
  };
}

/** What the model said, as it said it: its calls are not checked yet. */
function messageOf({ text, thinking, calls }: ReadAnswer): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content: text };
  if (calls.length > 0)
    message.tool_calls = calls.map(({ id, name, arguments: raw }) => ({
      id,
      type: "function",
      function: { name, arguments: raw },
    }));
  if (thinking !== "") message.reasoning = thinking;
  return message;
}

export function checkedOf(call: CheckedCall, answer: number, doubts: readonly string[] = []): NewEvent {
  const { id, name } = call.raw;
  const tool = "tool" in call ? call.tool : undefined;
  return {
    type: "call.checked",
    answer,
    callId: id,
    name: tool?.name ?? name,
    decision: call.decision,
    ...(call.decision === "reject" && { reason: call.reason, error: call.error }),
    ...(doubts.length > 0 && { doubts: [...new Set(doubts)] }),
  };
}

/** Whether a delta shows that the model writes. */
export function isToken({ type }: ModelDelta): boolean {
  return type === "text.delta" || type === "thinking.delta" || type.startsWith("call.");
}
