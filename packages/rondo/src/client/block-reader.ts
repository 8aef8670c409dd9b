// Turns the events of the loop into the blocks of an answer.

import type { LoopEvent, ReadyCall } from "../loop/events.ts";
import { errorText } from "../loop/tool-result.ts";
import type { Block } from "./blocks.ts";

export class BlockReader {
  readonly #includesDeltas: boolean;
  readonly #answerToolName: string | undefined;
  readonly #names = new Map<string, string>();
  /** Calls whose failure was told when they came, and is not told again with their result. */
  readonly #rejected = new Set<string>();
  /** The call through which the model has given its final answer, where it answers through a tool. */
  answerCall: ReadyCall | undefined;
  /** What was wrong with the last such call that did not fit. */
  answerProblem: string | undefined;

  constructor(includesDeltas: boolean, answerToolName?: string) {
    this.#includesDeltas = includesDeltas;
    this.#answerToolName = answerToolName;
  }

  /** The blocks of one event; the result of a call is not among them, because it follows its error. */
  read(event: LoopEvent): Block[] {
    switch (event.type) {
      case "text.delta":
        return [{ type: "text", text: event.text }];
      case "thinking.delta":
        return [{ type: "thinking", thinking: event.text }];
      case "call.started":
        this.#names.set(event.id, event.name);
        return [];
      case "call.delta":
        return this.#includesDeltas
          ? [
              {
                type: "tool_use_delta",
                id: event.id,
                name: this.#names.get(event.id) ?? "",
                partial_json: event.text,
              },
            ]
          : [];
      case "call.ready":
        if (event.name === this.#answerToolName) {
          this.answerCall = event;
          return [];
        }
        return [{ type: "tool_use", id: event.id, name: event.name, input: event.input }];
      case "call.rejected":
        this.#rejected.add(event.id);
        if (event.name === this.#answerToolName) {
          this.answerProblem = event.error;
          return [];
        }
        return [
          { type: "tool_use_error", error: event.error, raw_data: event.raw, id: event.id, name: event.name },
        ];
      case "tool.finished":
        if (!event.isError || this.#rejected.has(event.id)) return [];
        return [
          {
            type: "tool_use_error",
            error: isFailure(event.result) ? event.result.error : errorText(event.result),
            raw_data: JSON.stringify(event.input),
            id: event.id,
            name: event.name,
          },
        ];
      default:
        return [];
    }
  }
}

function isFailure(result: unknown): result is { error: string } {
  return typeof (result as { error?: unknown } | null)?.error === "string";
}
