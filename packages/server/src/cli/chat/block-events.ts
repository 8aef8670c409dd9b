// The blocks of the library's answers as events of a chat.

import type { Block, RunReason } from "rondo";
import type { ChatEvent, EndReason } from "./chat-partner.ts";

/** Why a run has ended, for people. */
export const endReasons: Record<RunReason, EndReason> = {
  completed: "completed",
  client_calls: "completed",
  max_turns: "limit",
  max_tool_calls: "limit",
  length: "length",
  aborted: "interrupted",
};

/** The blocks of an answer as events: one call and one result each, however it went. */
export class BlockEvents {
  readonly #names = new Map<string, string>();
  readonly #failed = new Set<string>();

  *read(block: Block): Generator<ChatEvent> {
    switch (block.type) {
      case "text":
        yield { type: "text", text: block.text };
        return;
      case "thinking":
        yield { type: "thinking", text: block.thinking };
        return;
      case "tool_use_delta":
        yield { type: "call.delta" };
        return;
      case "tool_use":
        yield this.#call(block.id, block.name, block.input);
        return;
      case "tool_use_error": {
        // One that could not even be read was never a call.
        if (!this.#names.has(block.id)) yield this.#call(block.id, block.name, block.raw_data ?? "");
        this.#failed.add(block.id);
        yield { type: "result", id: block.id, name: block.name, output: block.error, isError: true };
        return;
      }
      case "tool_result": {
        const id = block.tool_use_id;
        if (this.#failed.has(id)) return;
        const name = this.#names.get(id) ?? "";
        yield { type: "result", id, name, output: block.content, isError: block.is_error };
      }
    }
  }

  #call(id: string, name: string, input: unknown): ChatEvent {
    this.#names.set(id, name);
    return { type: "call", id, name, input };
  }
}
