// Compacts a conversation: the user's messages, and a sealed summary of the rest.

import type { Message, Tracer } from "rondo";
import { sealSummary, summarize } from "../engine/compaction.ts";
import { toApiError } from "../engine/failure.ts";
import { sealer } from "../engine/seal.ts";
import { expandInputItem } from "../protocol/expand-input-item.ts";
import { newId, newResponseId } from "../protocol/ids.ts";
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

/** Asks the model once. Throws an `ApiError` when it fails. */
export async function compactHistory(
  { plan, history }: Planned,
  secrets: readonly string[],
  signal: AbortSignal,
  tracer?: Tracer,
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
  const { provider } = plan;
  const { text, usage } = await summarize([...plan.messages, ...notRun], { provider, signal, tracer }).catch(
    (error: unknown) => {
      throw toApiError(error, plan.owner);
    },
  );
  const { seal } = sealer(secrets, plan.owner);
  const userMessages = history.flatMap(({ item }) =>
    isUserMessage(item as InputItem) ? [asOutput(item as InputItem)] : [],
  );
  return {
    id: newResponseId(),
    object: "response.compaction",
    created_at: Math.floor(plan.createdAtMs / 1000),
    output: [
      ...userMessages,
      {
        type: "compaction",
        id: newId("cmp"),
        encrypted_content: sealSummary(text, seal, { isWhole: false }),
      },
    ],
    usage,
  };
}

function isUserMessage({ type, role }: InputItem): boolean {
  return type === "message" && role === "user";
}

function asOutput(item: InputItem): InputItem {
  return { ...expandInputItem(item), id: newId("msg"), status: "completed" };
}
