// Compaction: a summary by the model that stands for a conversation from then on. Clients keep it sealed.

import type { Message, ModelProvider, Tracer } from "rondo";
import { type LoopEvent, run } from "rondo/loop";
import { ApiError } from "../protocol/api-error.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { Sealer } from "./seal.ts";
import { addUsage, estimateUsage, toUsage } from "./usage.ts";

const request =
  "Write a summary of this conversation for someone who has to continue it and has not read it. " +
  "Keep every fact, name, number, decision, file, result of a tool and open question that may still matter. " +
  "Do not answer anything, and do not call tools. Write only the summary.";

export interface Summary {
  readonly text: string;
  readonly usage: ResponseUsage;
}

export interface SummaryOptions {
  readonly provider: ModelProvider;
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: LoopEvent) => void) | undefined;
  /** Receives what happens, in the words of traces. Default: nothing. */
  readonly tracer?: Tracer | undefined;
}

/** Asks the model once. Throws when it fails, and an `ApiError` for a summary that says nothing. */
export async function summarize(
  conversation: readonly Message[],
  { provider, signal, onEvent, tracer }: SummaryOptions,
): Promise<Summary> {
  const messages: Message[] = [...conversation, { role: "user", content: request }];
  let text = "";
  let usage: ResponseUsage | undefined;
  const options = { model: provider, asksForWholeAnswers: true, signal, ...(tracer && { onTrace: tracer }) };
  for await (const event of run(messages, options)) {
    onEvent?.(event);
    if (event.type !== "model.finished") continue;
    text = event.message.content ?? "";
    usage = addUsage(usage, event.usage ? toUsage(event.usage) : estimateUsage(messages, event.message));
  }
  signal.throwIfAborted();
  // Sealed, an empty summary would go unnoticed, and the conversation would be lost.
  if (text.trim() === "") throw noSummary();
  return { text, usage: usage ?? estimateUsage(messages, { role: "assistant", content: text }) };
}

/** Begins the sealed text of a summary that stands for all before it; others leave the user's messages. */
const wholeMark = "\u0001";

export function sealSummary(text: string, seal: Sealer["seal"], { isWhole }: { isWhole: boolean }): string {
  return seal("compaction", isWhole ? wholeMark + text : text);
}

/** The messages of a conversation with a summary of it. `sealed` is as it was unsealed. */
export function withSummary(messages: readonly Message[], sealed: string): Message[] {
  const isWhole = sealed.startsWith(wholeMark);
  const summary: Message = {
    role: "user",
    content: `What was said and done so far, in short:\n${isWhole ? sealed.slice(wholeMark.length) : sealed}`,
  };
  if (!isWhole) return [...messages.filter(({ role }) => role === "system" || role === "user"), summary];
  // The last message of the user is what is to be answered.
  const last = messages.findLast(({ role }) => role === "user");
  return [...messages.filter(({ role }) => role === "system"), summary, ...(last ? [last] : [])];
}

function noSummary(): ApiError {
  return new ApiError(
    "The model was asked for a summary of the conversation and returned none. Try again, or use another model.",
    { status: 502, type: "server_error", code: "empty_summary" },
  );
}
