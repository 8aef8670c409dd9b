// Begins a foreground run when no other one of its conversation runs. The store decides, for all processes; this waits
// for news and asks again.

import { unknownConversation } from "../engine/conversation-history.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { Lease } from "../store/run-queue.ts";
import { StoreError } from "../store/store-error.ts";
import { NewsReader, type NewsSource } from "./news-reader.ts";
import type { Planned } from "./planner.ts";

/** What happens to a request whose conversation is busy: it waits, or is refused with 409. */
export type WhenBusy = "queue" | "reject";

export interface BeginOptions extends NewsSource {
  readonly conversation: string;
  /** The plan of the request; without a version the conversation was busy, and there is none yet. */
  readonly planned: Planned;
  readonly whenBusy: WhenBusy;
  readonly signal: AbortSignal;
  /** Creates the response with this plan. Throws the store's errors. */
  readonly create: (planned: Planned) => Promise<Lease>;
  /** Plans again, with what is in the conversation by now. */
  readonly plan: () => Promise<Planned>;
}

/** Throws an `ApiError` when it may not begin, and the signal's reason when its client is gone. */
export async function beginInConversation(
  options: BeginOptions,
): Promise<{ planned: Planned; lease: Lease }> {
  const { conversation, whenBusy, signal, create, plan } = options;
  let known = options.planned.version === undefined ? undefined : options.planned;
  for (; ; known = undefined) {
    signal.throwIfAborted();
    using reader = new NewsReader(options, conversation, signal);
    try {
      const planned = known ?? (await plan());
      if (planned.version !== undefined) return { planned, lease: await create(planned) };
      if (whenBusy === "reject") throw conversationBusy(conversation);
    } catch (error) {
      if (isStoreError(error, "conversation_changed")) continue;
      if (!isStoreError(error, "conversation_busy") || whenBusy === "reject")
        throw toConversationError(error, conversation);
    }
    await reader.arrived;
  }
}

/** What the store reports about a conversation, for the client. */
export function toConversationError(error: unknown, id: string): unknown {
  if (isStoreError(error, "unknown_conversation")) return unknownConversation(id);
  return isStoreError(error, "conversation_busy") ? conversationBusy(id) : error;
}

export function conversationBusy(id: string): ApiError {
  return new ApiError(
    `Another response of the conversation '${id}' is at work. Try again when it has ended, or cancel it.`,
    {
      status: 409,
      type: "invalid_request_error",
      code: "conversation_busy",
      param: "conversation",
      retryAfterMs: 1000,
    },
  );
}

function isStoreError(error: unknown, code: StoreError["code"]): boolean {
  return error instanceof StoreError && error.code === code;
}
