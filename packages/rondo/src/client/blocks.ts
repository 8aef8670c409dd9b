// What a client's answer is made of. The names are those that users of claude-agent-sdk know.

import type { JsonObject } from "../json/json-value.ts";

export interface TextBlock {
  type: "text";
  /** New text: each character comes once. */
  text: string;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
}

/** The model wants a tool to run. In automatic mode it does; in manual mode that is up to you. */
export interface ToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** A call that cannot run, was blocked, or has failed. The model is told. */
export interface ToolUseErrorBlock {
  type: "tool_use_error";
  error: string;
  /** What the model wrote, or the input of the call, as text. */
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

/** A piece of a call that is still being written. Only with `includeToolUseDeltas`. */
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
