// The blocks of an answer, and how the events of the loop become blocks. The names are those of claude-agent-sdk.

import type { ContextItem } from "../context/context-item.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { LoopEvent, ReadyCall } from "../loop/events.ts";
import { errorText } from "../loop/tool-result.ts";
import type { AnyTool, InputOf, NameOf, OutputOf } from "../tool/tool.ts";
import type { Turn } from "../turn/turn.ts";

export interface TextBlock {
  type: "text";
  /** New text: each character comes once. */
  text: string;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
}

/**
 * A call of the model. In automatic mode the client runs it, in manual mode you do. `T` is the union of the tools: the
 * name tells which one was called, and so the type of the input.
 */
export type ToolUseBlock<T = AnyTool> = T extends AnyTool
  ? { type: "tool_use"; id: string; name: NameOf<T>; input: CallInput<T> }
  : ToolUseBlock;

type CallInput<T extends AnyTool> = unknown extends InputOf<T> ? Record<string, unknown> : InputOf<T>;

/**
 * A call that cannot run, was denied or blocked, or failed. The error is reported to the model. A call that never ran
 * has only this block; one that failed came as `tool_use` before, and its `tool_result` follows.
 */
export interface ToolUseErrorBlock {
  type: "tool_use_error";
  error: string;
  /** The arguments as the model wrote them, or the input of the call as JSON. */
  raw_data: string | null;
  id: string;
  name: string;
}

/** The result of a `tool_use`, in automatic mode. Of an error, it is what the model reads. */
export type ToolResultBlock<T = AnyTool> = T extends AnyTool
  ? { type: "tool_result"; tool_use_id: string; name: NameOf<T> } & (
      | { content: Content<OutputOf<T>>; is_error: false }
      | { content: unknown; is_error: true }
    )
  : ToolResultBlock;

/** An agent routes turns and context items that a tool returns; the model then reads these words. */
type Content<Output> = Output extends Turn
  ? Output | "queued"
  : Output extends ContextItem
    ? Output | "noted"
    : Output;

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

/** `T` is the union of the tools, by whose names calls and results are told apart. */
export type Block<T = AnyTool> =
  | TextBlock
  | ThinkingBlock
  | ToolUseBlock<T>
  | ToolUseErrorBlock
  | ToolResultBlock<T>
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

  /** The block of an event, if it has one. Of a result, it is the error; see `readResult()`. */
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

  /** The block of a result, after that of its error. A rejected call has only its error. */
  readResult({ id, name, result, isError }: ToolFinished): ToolResultBlock | undefined {
    if (this.#rejected.has(id)) return undefined;
    return { type: "tool_result", tool_use_id: id, name, content: result, is_error: isError };
  }
}

type ToolFinished = Extract<LoopEvent, { type: "tool.finished" }>;

function isFailure(result: unknown): result is { error: string } {
  return typeof (result as { error?: unknown } | null)?.error === "string";
}
