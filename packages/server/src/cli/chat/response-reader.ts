// The events of a response as those of a chat.

import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { ApiClientError } from "../api-client-error.ts";
import type { ChatEvent } from "./chat-partner.ts";

export class ResponseReader {
  /** Known as soon as the server has accepted the request. */
  id: string | undefined;
  /** Set when the response has ended. */
  response: ResponseObject | undefined;
  /** The names of calls that run on the server, by item. */
  readonly #serverCalls = new Map<string, string>();

  /** Throws what the server reports as a failure. */
  *read(event: StreamEvent): Generator<ChatEvent> {
    switch (event.type) {
      case "response.created":
        this.id = event.response.id;
        return;
      case "response.output_text.delta":
        yield { type: "text", text: event.delta };
        return;
      case "response.reasoning_text.delta":
        yield { type: "thinking", text: event.delta };
        return;
      case "response.function_call_arguments.delta":
      case "response.mcp_call_arguments.delta":
        yield { type: "call.delta" };
        return;
      case "response.output_item.added":
        if (event.item.type === "mcp_call") this.#serverCalls.set(event.item.id, event.item.name);
        return;
      case "response.mcp_call_arguments.done": {
        const name = this.#serverCalls.get(event.item_id) ?? "";
        yield { type: "call", id: event.item_id, name, input: event.arguments };
        return;
      }
      case "response.output_item.done": {
        const { item } = event;
        if (item.type === "function_call")
          yield { type: "call", id: item.call_id, name: item.name, input: item.arguments };
        if (item.type === "mcp_call") {
          const { id, name, output, error } = item;
          yield { type: "result", id, name, output: error ?? output ?? "", isError: error !== null };
        }
        return;
      }
      case "response.completed":
      case "response.incomplete":
        this.response = event.response;
        return;
      case "response.failed":
        throw failure(event.response.error?.message, event.response.error?.code);
      case "error":
        throw failure(event.message, event.code);
      default:
        return;
    }
  }
}

function failure(message = "The server did not say why the response failed.", code?: string): Error {
  return new ApiClientError(message, { code: code ?? null });
}
