// Turns the events of the loop into the blocks of an answer.

import type { LoopEvent, ReadyCall } from "../loop/events.ts";
import { errorText } from "../loop/tool-result.ts";
import type { Block } from "./blocks.ts";

export class BlockReader {
  readonly #answerToolName: string | undefined;
  readonly #names = new Map<string, string>();
  /** Calls whose failure was told when they came, and is not told again with their result. */
  readonly #rejected = new Set<string>();
  /** The call through which the model has given its final answer, where it answers through a tool. */
  answerCall: ReadyCall | undefined;
  /** What was wrong with the last such call that did not fit. */
  answerProblem: string | undefined;

  constructor(answerToolName?: string) {
    this.#answerToolName = answerToolName;
  }

  /** The block of one event, if it has one; the result of a call is none, because it follows its error. */
  read(event: LoopEvent): Block | undefined {
    switch (event.type) {
      case "text.delta":
        return { type: "text", text: event.text };
      case "thinking.delta":
        return { type: "thinking", thinking: event.text };
      case "server.event":
        return { type: "server_event", event: event.event };
      case "call.started":
        this.#names.set(event.id, event.name);
        return undefined;
      case "call.delta":
        return {
          type: "tool_use_delta",
          id: event.id,
          name: this.#names.get(event.id) ?? "",
          partial_json: event.text,
        };
      case "call.ready":
        if (event.name !== this.#answerToolName)
          return { type: "tool_use", id: event.id, name: event.name, input: event.input };
        this.answerCall = event;
        return undefined;
      case "call.rejected": {
        const { id, name, error, raw } = event;
        this.#rejected.add(id);
        if (name !== this.#answerToolName) return { type: "tool_use_error", error, raw_data: raw, id, name };
        this.answerProblem = error;
        return undefined;
      }
      case "tool.finished":
        if (!event.isError || this.#rejected.has(event.id)) return undefined;
        return {
          type: "tool_use_error",
          error: isFailure(event.result) ? event.result.error : errorText(event.result),
          raw_data: JSON.stringify(event.input),
          id: event.id,
          name: event.name,
        };
      default:
        return undefined;
    }
  }
}

function isFailure(result: unknown): result is { error: string } {
  return typeof (result as { error?: unknown } | null)?.error === "string";
}
