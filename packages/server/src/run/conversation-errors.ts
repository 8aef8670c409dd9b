// What clients are told when a response cannot begin in its conversation.

import { unknownConversation } from "../engine/conversation-history.ts";
import { ApiError } from "../protocol/api-error.ts";
import { isStoreError } from "../store/store-error.ts";

/** Turns an error of the store about a conversation into one for the client. Returns other errors as they are. */
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
