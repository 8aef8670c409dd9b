// What the loop needs from a model: one streaming method.

import type { JsonObject } from "../json/json-value.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { OpenAITool } from "../tool/tool.ts";
import type { Tracer } from "../trace/trace.ts";
import type { Message } from "./message.ts";
import type { ModelProfile } from "./profile.ts";

/** Sampling settings. Defaults: the server's. */
export interface ModelSettings {
  temperature?: number;
  maxTokens?: number;
  topP?: number;
  seed?: number;
  stop?: string[];
  /** More fields of the request body, as the server names them. They override the others. */
  extraBody?: Record<string, unknown>;
}

/** The schema of the answer, where the server can enforce it. */
export interface OutputFormat {
  name: string;
  /** Default: any JSON object. */
  schema?: JsonSchema;
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
   * Whether no consumer needs a stream, so that the answer may come whole, which costs both sides less. A hint: a
   * provider may stream all the same. Default: false.
   */
  wholeAnswer?: boolean;
  /**
   * Called by a model that asks another one, before each try: with what it sends, which may be less than this request,
   * and the model that counts the tokens of it. `failure` is that of the try before. Default: none.
   */
  onSent?: (sent: ModelRequest, model: ModelProvider, failure?: { readonly error: unknown }) => void;
  /**
   * Records what happens to this request, from waiting for a slot to the bytes of the answer. For a model, the `answer`
   * is always 0: the loop knows its number. Default: nobody listens.
   */
  tracer?: Tracer;
  signal?: AbortSignal;
}

/** Tokens of one answer, or the sum of several. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** How many of the input tokens came from the server's cache, if it reports that. */
  cachedTokens?: number;
  /** How many of the output tokens were reasoning, if it reports that. */
  reasoningTokens?: number;
  /** How many input tokens at least the server left out of the prompt, if it certainly did. */
  cutTokens?: number;
  /** Whether a part of it is estimated, because an answer broke off. Default: the server reported all of it. */
  estimated?: true;
}

/** Why a model stopped. `unknown` when the server did not say. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "unknown";

/**
 * The events of a model's stream, in order. Each call has one `call.started`, its `call.delta`s and one `call.ended`;
 * calls may overlap. `finished` is the last, unless the stream fails: then it throws.
 */
export type ModelDelta =
  | { readonly type: "text.delta"; readonly text: string }
  | { readonly type: "thinking.delta"; readonly text: string }
  | { readonly type: "call.started"; readonly id: string; readonly name: string }
  | { readonly type: "call.delta"; readonly id: string; readonly text: string }
  /** A call is complete, or `isTruncated` by the end of the stream or the length limit. */
  | {
      readonly type: "call.ended";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly isTruncated: boolean;
      /** Whether it was found in the text, in a dialect. Only told to a `tracer`. Default: false. */
      readonly isFromText?: boolean;
    }
  | { readonly type: "warning"; readonly message: string }
  /** An event of the server's own, as it came: a tool that it runs, or a call that needs approval. */
  | { readonly type: "server.event"; readonly event: JsonObject }
  /** `usage` is undefined when the server did not report it. */
  | {
      readonly type: "finished";
      readonly finishReason: FinishReason;
      readonly usage: Usage | undefined;
      /** What the server measured itself. Only told to a `tracer`. Default: nothing. */
      readonly timings?: JsonObject;
    };

export interface LearnOptions {
  /** Whether the context window is needed too. Default: false. */
  window?: boolean | undefined;
  /** Stops waiting for the server: what is known by then is used. */
  signal?: AbortSignal | undefined;
}

/** A model. */
export interface ModelProvider {
  /** The model's name, as its server knows it. */
  readonly name: string;
  /** Its URL, or a name instead of one, for messages. */
  readonly endpoint: string;
  /** What is known about the model and its server now. It may get better when the server has answered. */
  readonly profile: ModelProfile;
  /**
   * Finds out what the server is, unless that is known, and gives the profile. Never rejects: if the server does not
   * tell, the profile stays as it was. Default: there is nothing to find out.
   */
  learn?(options?: LearnOptions): Promise<ModelProfile>;
  /** Whether the usage of an answer counts the prompt of its own request, and nothing else. Default: false. */
  readonly countsPrompts?: boolean;
  /** Sends one request. Leaving the iteration, or aborting the signal, closes the connection at once. */
  stream(request: ModelRequest): AsyncIterable<ModelDelta>;
}
