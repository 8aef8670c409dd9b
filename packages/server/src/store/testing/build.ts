// Short ways to write down what tests put into a store.

import type { InputItem, MessageItem } from "../../protocol/items.ts";
import type { NewResponse, RunWrite, StoredEvent, StoredOutput } from "../store.ts";

export function newResponse(id: string, given: Partial<NewResponse> = {}): NewResponse {
  return {
    id,
    owner: "ann",
    status: "in_progress",
    background: true,
    model: "small",
    createdAtMs: 1000,
    previousResponseId: null,
    isClosed: false,
    request: { instructions: `Instructions of ${id}` },
    input: [],
    events: [],
    ...given,
  };
}

export function inputItem(id: string, text = `Text of ${id}`): InputItem & { id: string } {
  return { type: "message", id, role: "user", content: text };
}

export function message(
  id: string,
  status: MessageItem["status"] = "completed",
  text = `Text of ${id}`,
): MessageItem {
  return {
    type: "message",
    id,
    role: "assistant",
    status,
    content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  };
}

export function output(index: number, item: MessageItem, turn = 0): StoredOutput {
  return { index, turn, item };
}

/** Events with the sequence numbers from `first` to `last`. */
export function events(first: number, last: number): StoredEvent[] {
  const count = Math.max(0, last - first + 1);
  return Array.from({ length: count }, (_, i) => ({ sequence: first + i, data: `{"n":${first + i}}` }));
}

/** A write, durable only if it says so. */
export function write(given: Partial<RunWrite>): RunWrite {
  return { isDurable: false, ...given };
}
