// Remembers which conversation a stored response ends, so that the next request sends only what is new.

import type { AssistantMessage, Message } from "../message.ts";
import type { ModelDelta } from "../provider.ts";

/** What a model has said in one answer, as far as it tells whether a message is that answer. */
export class AnswerNote {
  #text = "";
  readonly #callIds: string[] = [];

  take(delta: ModelDelta): void {
    if (delta.type === "text.delta") this.#text += delta.text;
    else if (delta.type === "call.ended") this.#callIds.push(delta.id);
  }

  /** The note of an answer that is in a conversation already. */
  static of({ content, tool_calls: calls = [] }: AssistantMessage): AnswerNote {
    const note = new AnswerNote();
    note.#text = content ?? "";
    note.#callIds.push(...calls.map(({ id }) => id));
    return note;
  }

  matches(message: Message | undefined): boolean {
    if (message?.role !== "assistant" || (message.content ?? "") !== this.#text) return false;
    const ids = (message.tool_calls ?? []).map(({ id }) => id);
    return ids.length === this.#callIds.length && ids.every((id, index) => id === this.#callIds[index]);
  }
}

interface Link {
  readonly responseId: string;
  /** The messages that it answers, as JSON: the objects may be changed by their owner. */
  readonly messages: readonly string[];
  readonly answer: AnswerNote;
}

export class ResponseChain {
  #last: Link | undefined;

  /** The response that the conversation goes on from, and the messages that it does not have yet. */
  next(
    messages: readonly Message[],
  ): { readonly responseId: string; readonly added: readonly Message[] } | undefined {
    const last = this.#last;
    const known = last?.messages.length ?? 0;
    const added = messages.slice(known + 1);
    if (!last || added.length === 0 || !last.answer.matches(messages[known])) return undefined;
    const isSame = last.messages.every((text, index) => text === JSON.stringify(messages[index]));
    return isSame ? { responseId: last.responseId, added } : undefined;
  }

  /** Goes on from a response of an earlier process, which is the last of the messages. */
  restore(responseId: string, messages: readonly Message[]): void {
    const answer = messages.at(-1);
    if (answer?.role === "assistant") this.add(responseId, messages.slice(0, -1), AnswerNote.of(answer));
  }

  add(responseId: string, messages: readonly Message[], answer: AnswerNote): void {
    this.#last = { responseId, messages: messages.map((message) => JSON.stringify(message)), answer };
  }
}
