// The events of a chat: one union for the library's blocks and the events of a Rondo server.

import type { Block } from "rondo";
import type { RunReason } from "rondo/loop";
import type { StreamEvent } from "../../protocol/events.ts";
import type { OutputItem } from "../../protocol/items.ts";

/** The events of one prompt, in order. `end` is the last, unless the answer fails: then the error is thrown. */
export type ChatEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** The model is still writing a call. */
  | { readonly type: "call.delta" }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly output: unknown;
      readonly isError: boolean;
    }
  /** A message for the user. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "end"; readonly reason: EndReason; readonly usage: ChatUsage | undefined };

/** `limit`: too many rounds of tools. `length`: the longest answer, or the model's context, was reached. */
export type EndReason = "completed" | "interrupted" | "length" | "limit" | "filtered";

export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Whether a part of it is estimated, because an answer broke off. */
  readonly estimated?: true;
}

/** Why a run of the loop ended, for people. */
export const endReasons: Record<RunReason, EndReason> = {
  completed: "completed",
  client_calls: "completed",
  max_turns: "limit",
  max_tool_calls: "limit",
  length: "length",
  aborted: "interrupted",
};

/** Why a response of a server ended, for people. */
export function endReasonOf(response: object | undefined): EndReason {
  const { incomplete_details: details } = (response ?? {}) as {
    incomplete_details?: { reason?: string } | null;
  };
  const reason = details?.reason;
  if (reason === undefined) return "completed";
  const known: Record<string, EndReason> = {
    max_output_tokens: "length",
    content_filter: "filtered",
    cancelled: "interrupted",
  };
  return known[reason] ?? "limit";
}

/** The sum. A round without usage adds nothing. */
export function addUsage(sum: ChatUsage | undefined, more: ChatUsage | undefined): ChatUsage | undefined {
  if (!sum || !more) return sum ?? more;
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...((sum.estimated || more.estimated) && { estimated: true }),
  };
}

/** The blocks of an answer as events: one call and one result each, however it went. */
export class BlockEvents {
  readonly #names = new Map<string, string>();
  readonly #failed = new Set<string>();
  readonly #server = new ServerEvents();

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
        // An unreadable call was not announced before.
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
        return;
      }
      case "server_event":
        // Events of other servers are ignored.
        yield* this.#server.read(block.event as unknown as StreamEvent);
    }
  }

  #call(id: string, name: string, input: unknown): ChatEvent {
    this.#names.set(id, name);
    return { type: "call", id, name, input };
  }
}

/** Maps the events of a response. In a chat, the library reads text and the client's calls before. */
export class ServerEvents {
  /** The names of the server's own calls, by their items. */
  readonly #names = new Map<string, string>();
  /** The type of the events that each thought is read from, by its item. */
  readonly #thoughts = new Map<string, string>();

  *read(event: StreamEvent): Generator<ChatEvent> {
    switch (event.type) {
      case "response.output_text.delta":
        yield { type: "text", text: event.delta };
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        if (this.#isFirstForm(event.item_id, event.type)) yield { type: "thinking", text: event.delta };
        return;
      case "response.function_call_arguments.delta":
      case "response.mcp_call_arguments.delta":
        yield { type: "call.delta" };
        return;
      case "response.mcp_call_arguments.done": {
        const { item_id: id, arguments: input } = event;
        yield { type: "call", id, name: this.#names.get(id) ?? "", input };
        return;
      }
      case "response.output_item.added":
        if (event.item.type === "mcp_call") this.#names.set(event.item.id, event.item.name);
        return;
      case "response.output_item.done":
        yield* readItem(event.item);
        return;
      default:
        return;
    }
  }

  /** A server may send a thought as its content and as a summary. */
  #isFirstForm(itemId: string, type: string): boolean {
    if (!this.#thoughts.has(itemId)) this.#thoughts.set(itemId, type);
    return this.#thoughts.get(itemId) === type;
  }
}

function* readItem(item: OutputItem): Generator<ChatEvent> {
  if (item.type === "function_call")
    yield { type: "call", id: item.call_id, name: item.name, input: item.arguments };
  if (item.type === "mcp_call") {
    const { id, name, output, error } = item;
    yield { type: "result", id, name, output: error ?? output ?? "", isError: Boolean(error) };
  }
  if (item.type === "mcp_approval_request")
    yield { type: "notice", text: `The server asks for approval: ${item.name} ${item.arguments}` };
}
