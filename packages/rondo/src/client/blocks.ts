// The blocks of an answer, and how the events of the loop become blocks. The names are those of claude-agent-sdk.

import type { JsonObject } from "../json/json-value.ts";
import type { LoopEvent, ReadyCall } from "../loop/events.ts";
import { errorText } from "../loop/tool-result.ts";

export interface TextBlock {
  type: "text";
  /** New text: each character comes once. */
  text: string;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
}

/** A call of the model. In automatic mode the client runs it, in manual mode you do. */
export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** A call that cannot run, was blocked, or failed. The error is reported to the model. */
export interface ToolUseErrorBlock {
  type: "tool_use_error";
  error: string;
  /** The arguments as the model wrote them, or the input of the call as JSON. */
  raw_data: string | null;
  id: string;
  name: string;
}

/** The result of a call, in automatic mode. */
export interface ToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: unknown;
  is_error: boolean;
}

/** A piece of the arguments of a call, with `includeToolUseDeltas`. */
export interface ToolUseDeltaBlock {
  type: "tool_use_delta";
  id: string;
  name: string;
  partial_json: string;
}

/** An event of the model's server, as it came: a tool that it runs itself. Only from `responsesModel()`. */
export interface ServerEventBlock {
  type: "server_event";
  event: JsonObject;
}

export type Block =
  | TextBlock
  | ThinkingBlock
  | ToolUseBlock
  | ToolUseErrorBlock
  | ToolResultBlock
  | ToolUseDeltaBlock
  | ServerEventBlock;

export class BlockReader {
  readonly #answerToolName: string | undefined;
  readonly #names = new Map<string, string>();
  /** Calls whose error was shown when they came, and is not shown again with their result. */
  readonly #rejected = new Set<string>();
  /** The call that is the final answer, where the model answers through a tool. */
  answerCall: ReadyCall | undefined;
  /** What was wrong with the last such call that was rejected. */
  answerProblem: string | undefined;

  constructor(answerToolName?: string) {
    this.#answerToolName = answerToolName;
  }

  /** The block of an event, if it has one. Of a result, it is the error; see `toResultBlock()`. */
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

/** The block of a result, after that of its error. */
export function toResultBlock(event: Extract<LoopEvent, { type: "tool.finished" }>): ToolResultBlock {
  return { type: "tool_result", tool_use_id: event.id, content: event.result, is_error: event.isError };
}

function isFailure(result: unknown): result is { error: string } {
  return typeof (result as { error?: unknown } | null)?.error === "string";
}
