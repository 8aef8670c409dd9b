// Compacts a conversation: the user's messages, and a sealed summary of the rest.

import type { Message } from "rondo";
import { run } from "rondo/loop";
import { toApiError } from "../engine/failure.ts";
import { sealer } from "../engine/seal.ts";
import { addUsage, estimateUsage, toUsage } from "../engine/usage.ts";
import { ApiError } from "../protocol/api-error.ts";
import { expandInputItem } from "../protocol/expand-input-item.ts";
import { newId } from "../protocol/ids.ts";
import type { InputItem } from "../protocol/items.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { Planned } from "./planner.ts";

/** The answer of `POST /v1/responses/compact`. */
export interface CompactedResponse {
  id: string;
  object: "response.compaction";
  /** Seconds, as the API has them. */
  created_at: number;
  /** The user's messages, then one item of the type `compaction`. As input they replace the conversation. */
  output: InputItem[];
  usage: ResponseUsage;
}

const request =
  "Write a summary of this conversation for someone who has to continue it and has not read it. " +
  "Keep every fact, name, number, decision, file, result of a tool and open question that may still matter. " +
  "Do not answer anything, and do not call tools. Write only the summary.";

/** Asks the model once. Throws an `ApiError` when it fails. */
export async function compactHistory(
  { plan, history }: Planned,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<CompactedResponse> {
  // Nothing runs here, and model servers refuse a call without a result.
  const notRun = (plan.approved ?? []).map(({ id, identity: { name } }): Message => {
    return {
      role: "tool",
      tool_call_id: id,
      name,
      content: "The user has allowed this call. It was not run yet.",
    };
  });
  const messages: Message[] = [...plan.messages, ...notRun, { role: "user", content: request }];
  let summary = "";
  let usage: ResponseUsage | undefined;
  try {
    for await (const event of run(messages, { model: plan.provider, asksForWholeAnswers: true, signal })) {
      if (event.type !== "model.finished") continue;
      summary = event.message.content ?? "";
      usage = addUsage(usage, event.usage ? toUsage(event.usage) : estimateUsage(messages, event.message));
    }
  } catch (error) {
    throw toApiError(error);
  }
  // Sealed, an empty summary would go unnoticed, and the conversation would be lost.
  if (summary.trim() === "") throw noSummary();
  const { seal } = sealer(secrets, plan.owner);
  const userMessages = history.flatMap(({ item }) =>
    isUserMessage(item as InputItem) ? [asOutput(item as InputItem)] : [],
  );
  return {
    id: newId("resp"),
    object: "response.compaction",
    created_at: Math.floor(plan.createdAtMs / 1000),
    output: [
      ...userMessages,
      { type: "compaction", id: newId("cmp"), encrypted_content: seal("compaction", summary) },
    ],
    usage: usage ?? estimateUsage(messages, { role: "assistant", content: summary }),
  };
}

function noSummary(): ApiError {
  return new ApiError(
    "The model was asked for a summary of the conversation and returned none. Try again, or use another model.",
    { status: 502, type: "server_error", code: "empty_summary" },
  );
}

function isUserMessage({ type, role }: InputItem): boolean {
  return type === "message" && role === "user";
}

function asOutput(item: InputItem): InputItem {
  return { ...expandInputItem(item), id: newId("msg"), status: "completed" };
}
