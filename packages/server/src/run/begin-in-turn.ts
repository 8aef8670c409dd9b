// Lets a response begin in its conversation when no other one runs there. The store is the judge, so that it holds
// for all processes; this waits and asks again.

import { unknownConversation } from "../engine/conversation-history.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { Lease } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { Hub } from "./hub.ts";
import type { Planned } from "./planner.ts";

/** What a request does whose conversation is at work: wait for its turn, or be refused with 409. */
export type WhenBusy = "queue" | "reject";

export interface BeginOptions {
  /** The conversation. */
  readonly id: string;
  readonly planned: Planned;
  readonly whenBusy: WhenBusy;
  readonly hub: Hub;
  readonly signal: AbortSignal;
  /** Creates the response with this plan, or throws what the store says. */
  readonly create: (planned: Planned) => Promise<Lease>;
  /** Plans again, with what is in the conversation by now. */
  readonly plan: () => Promise<Planned>;
}

/** Another process may end the run that is waited for; nobody rings then. */
const longestWaitMs = 250;

/** Throws an `ApiError` when it may not begin, and the signal's reason when nobody waits for it any more. */
export async function beginInTurn(options: BeginOptions): Promise<{ planned: Planned; lease: Lease }> {
  const { id, hub, signal, create, plan } = options;
  // Without a version others ran first, and there is no plan yet.
  let known = options.planned.version === undefined ? undefined : options.planned;
  for (; ; known = undefined) {
    signal.throwIfAborted();
    using listening = hub.listen(id, longestWaitMs, signal);
    try {
      const planned = known ?? (await plan());
      if (planned.version !== undefined) return { planned, lease: await create(planned) };
      if (options.whenBusy === "reject") throw conversationBusy(id);
      await listening.news;
    } catch (error) {
      if (isStoreError(error, "conversation_changed")) continue;
      if (!isStoreError(error, "conversation_busy") || options.whenBusy === "reject")
        throw toConversationError(error, id);
      await listening.news;
    }
  }
}

/** What the store says of a conversation, for the client. */
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
