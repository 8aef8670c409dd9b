// What the loop needs of a model: one streaming call.

import type { JsonObject } from "../json/json-value.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { OpenAITool } from "../tool/tool.ts";
import type { Message } from "./message.ts";
import type { ModelProfile } from "./profile.ts";

/** How a model is asked to answer. What is left out is left to the server. */
export interface ModelSettings {
  temperature?: number;
  maxTokens?: number;
  topP?: number;
  seed?: number;
  stop?: string[];
  /** More fields of the request body, as the server names them. They win over the others. */
  extraBody?: Record<string, unknown>;
}

/** The shape that the answer shall have, where the server can enforce it. */
export interface OutputFormat {
  name: string;
  schema: JsonSchema;
}

export interface ModelRequest {
  messages: readonly Message[];
  /** Default: none. */
  tools?: readonly OpenAITool[];
  /** Whether the model may, must not or must call a tool, or which one. Default: the server's. */
  toolChoice?: "auto" | "none" | "required" | { name: string };
  output?: OutputFormat;
  settings?: ModelSettings;
  /**
   * Whether nobody reads along, so that the answer may come all at once; that costs both sides less than a stream.
   * A wish: a provider that can only stream does so. Default: false.
   */
  wholeAnswer?: boolean;
  signal?: AbortSignal;
}

/** Tokens of one call, or of several added up. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** How many of the input tokens the server did not have to read again, if it tells. */
  cachedTokens?: number;
  /** How many of the output tokens were thoughts, if it tells. */
  reasoningTokens?: number;
}

/** Why a model has stopped. `unknown` when the server did not say. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "unknown";

/**
 * What comes out of a model's stream, in order. Each call has its `call.started`, its `call.delta`s and one
 * `call.ended`; calls may overlap. `finished` is always the last, unless the stream fails: then it throws.
 */
export type ModelDelta =
  | { readonly type: "text.delta"; readonly text: string }
  | { readonly type: "thinking.delta"; readonly text: string }
  | { readonly type: "call.started"; readonly id: string; readonly name: string }
  | { readonly type: "call.delta"; readonly id: string; readonly text: string }
  /** All of a call has come. `isTruncated` when the stream or the length limit has cut it off. */
  | {
      readonly type: "call.ended";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly isTruncated: boolean;
    }
  | { readonly type: "warning"; readonly message: string }
  /** An event of the server's own, as it came: a tool that it runs itself, or a call it wants approved. */
  | { readonly type: "server.event"; readonly event: JsonObject }
  /** `usage` is undefined when the server did not tell. */
  | { readonly type: "finished"; readonly finishReason: FinishReason; readonly usage: Usage | undefined };

/** A model that can be asked. */
export interface ModelProvider {
  /** The model's name, as its server knows it. */
  readonly name: string;
  /** Where it is, for messages: a URL, or what stands for one. */
  readonly endpoint: string;
  readonly profile: ModelProfile;
  /** Asks once. Leaving the iteration, or the signal, closes the connection at once. */
  stream(request: ModelRequest): AsyncIterable<ModelDelta>;
}
