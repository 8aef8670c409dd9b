// One answer of the model while it is read, and the message and the events that it becomes.

import type { JsonObject } from "../json/json-value.ts";
import type { AssistantMessage, ToolCall } from "../model/message.ts";
import type { FinishReason, Usage } from "../model/provider.ts";
import type { CallHere, CheckedCall, RawCall } from "./check-call.ts";
import type { LoopEvent } from "./events.ts";

/** One answer of the model while it is read. */
export interface Answer {
  text: string;
  thinking: string;
  readonly calls: RawCall[];
  /** The ids of the calls, each with the last number that was added to it. */
  readonly callIds: Map<string, number>;
  /** What came of its calls, for an estimate if it breaks off. */
  callText: string;
  finishReason: FinishReason;
  usage: Usage | undefined;
  timings?: JsonObject | undefined;
  isCounted: boolean;
}

export function newAnswer(): Answer {
  return {
    text: "",
    thinking: "",
    calls: [],
    callIds: new Map(),
    callText: "",
    finishReason: "unknown",
    usage: undefined,
    isCounted: false,
  };
}

export function isAnsweredHere(call: CheckedCall): call is CallHere {
  return call.decision === "run" || call.decision === "reject";
}

/** Adds a call. Two of one answer need two ids: results and idempotency keys go by them. */
export function addCall({ calls, callIds }: Answer, call: RawCall): void {
  let { id } = call;
  let count = callIds.get(id) ?? 0;
  while (callIds.has(id)) {
    count += 1;
    id = `${call.id}_${count}`;
  }
  if (id !== call.id) callIds.set(call.id, count);
  callIds.set(id, 1);
  calls.push(id === call.id ? call : { ...call, id });
}

export function toRawCall({ id, function: { name, arguments: text } }: ToolCall): RawCall {
  return { id, name, arguments: text, isTruncated: false };
}

export function toEvent(call: CheckedCall): LoopEvent {
  const { id, name, arguments: raw } = call.raw;
  if (call.decision === "reject")
    return { type: "call.rejected", id, name, raw, reason: call.reason, error: call.error };
  const { decision, input, tool } = call;
  return { type: "call.ready", id, name: tool?.name ?? name, input, decision };
}

function toToolCall(call: CheckedCall): ToolCall {
  const name = "tool" in call && call.tool ? call.tool.wireName : call.raw.name;
  return { id: call.raw.id, type: "function", function: { name, arguments: JSON.stringify(call.input) } };
}

/** The message as it enters the conversation. A call that cannot run keeps its place, too. */
export function toMessage({ text, thinking }: Answer, checked: readonly CheckedCall[]): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content: text };
  if (checked.length > 0) message.tool_calls = checked.map(toToolCall);
  if (thinking !== "") message.reasoning = thinking;
  return message;
}
