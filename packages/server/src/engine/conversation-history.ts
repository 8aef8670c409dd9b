// The history of a request's conversation.

import { type ApiError, notFound } from "../protocol/api-error.ts";
import type { ConversationEntry, ConversationHistory } from "../store/conversation-store.ts";
import type { Store } from "../store/store.ts";
import type { Entry } from "./conversation.ts";
import { withoutCutAnswers } from "./cut-answers.ts";

export interface LoadedConversation extends Omit<ConversationHistory, "entries"> {
  /** Oldest first. */
  readonly entries: readonly Entry[];
}

/** Throws 404 for an unknown conversation, or one of another owner. */
export async function loadConversation(store: Store, owner: string, id: string): Promise<LoadedConversation> {
  const found = await store.readConversation(owner, id);
  if (!found) throw unknownConversation(id);
  return { ...found, entries: toEntries(found.entries) };
}

export function unknownConversation(id: string, param = "conversation"): ApiError {
  return notFound(`Conversation with id '${id}' not found.`, "conversation_not_found", param);
}

function toEntries(stored: readonly ConversationEntry[]): Entry[] {
  const answers = stored.filter(isAnswer);
  const kept = new Set<ConversationEntry>(
    [...Map.groupBy(answers, ({ responseId }) => responseId).values()].flatMap(withoutCutAnswers),
  );
  return stored
    .filter((entry) => !isAnswer(entry) || kept.has(entry))
    .map((entry) => ({
      item: entry.item,
      ...(isAnswer(entry) && { group: `${entry.responseId} ${entry.turn}`, isClosed: entry.isClosed }),
    }));
}

function isAnswer(entry: ConversationEntry): entry is ConversationEntry & { readonly turn: number } {
  return entry.turn !== null;
}
