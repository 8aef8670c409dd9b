// Scripted answers, and their deltas.

import type { FinishReason, ModelDelta, Usage } from "../model/provider.ts";

/** Text in one piece or several. A promise between the pieces is awaited. */
export type ScriptedText = string | readonly (string | PromiseLike<unknown>)[];

export interface ScriptedCall {
  name: string;
  /** The arguments as a value. Default: `{}`. */
  input?: unknown;
  /** The arguments as text, valid or not, in one piece or several. */
  arguments?: string | readonly string[];
  /** Default: `call_1`, `call_2`, … counted by the model. */
  id?: string;
  /** Whether the call is truncated. Default: false. */
  isTruncated?: boolean;
}

/** One answer of a scripted model. Its parts come in the order thinking, text, calls. */
export interface ScriptedAnswer {
  thinking?: ScriptedText;
  text?: ScriptedText;
  calls?: readonly ScriptedCall[];
  /** Raw deltas, after those of the fields above. A promise between them is awaited. */
  chunks?: readonly (ModelDelta | PromiseLike<unknown>)[];
  /** Default: `tool_calls` if there are calls, else `stop`. */
  finishReason?: FinishReason;
  /** Default: none, as from a server that does not report it. */
  usage?: Usage;
  /** Thrown instead of `finished`, after the rest of the answer. Default: none. */
  error?: Error;
  /** Delay before the first delta. Default: 0. */
  delayMs?: number;
  /** Awaited before the first delta. Default: nothing. */
  waitFor?: PromiseLike<unknown>;
}

/** The known fields of an answer, to detect misspelt ones. */
export const scriptedAnswerFields: readonly (keyof ScriptedAnswer)[] = [
  "thinking",
  "text",
  "calls",
  "chunks",
  "finishReason",
  "usage",
  "error",
  "delayMs",
  "waitFor",
];

/** The deltas of an answer, without its error, and the promises to await between them. */
export function* deltasOf(
  answer: ScriptedAnswer,
  nextId: () => string,
): Generator<ModelDelta | PromiseLike<unknown>> {
  yield* textDeltas("thinking.delta", answer.thinking);
  yield* textDeltas("text.delta", answer.text);
  for (const call of answer.calls ?? []) yield* callDeltas(call, call.id ?? nextId());
  let isFinished = false;
  for (const chunk of answer.chunks ?? []) {
    if (!isPromise(chunk) && chunk.type === "finished") isFinished = true;
    yield chunk;
  }
  if (isFinished || answer.error !== undefined) return;
  const finishReason = answer.finishReason ?? (answer.calls?.length ? "tool_calls" : "stop");
  yield { type: "finished", finishReason, usage: answer.usage };
}

export function isPromise(value: object): value is PromiseLike<unknown> {
  return "then" in value;
}

function* textDeltas(
  type: "thinking.delta" | "text.delta",
  text: ScriptedText = [],
): Generator<ModelDelta | PromiseLike<unknown>> {
  for (const piece of typeof text === "string" ? [text] : text)
    yield typeof piece === "string" ? { type, text: piece } : piece;
}

function* callDeltas(call: ScriptedCall, id: string): Generator<ModelDelta> {
  const { name, isTruncated = false } = call;
  const written = call.arguments ?? JSON.stringify(call.input ?? {});
  const pieces = typeof written === "string" ? [written] : written;
  yield { type: "call.started", id, name };
  for (const text of pieces) yield { type: "call.delta", id, text };
  yield { type: "call.ended", id, name, arguments: pieces.join(""), isTruncated };
}
