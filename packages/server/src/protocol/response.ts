// The response object: all keys that the Responses API has, always, with null where there is nothing to say.

import type { JsonObject, JsonValue } from "rondo";
import type { OutputItem } from "./items.ts";
import type { ResponseStatus } from "./status.ts";
import type { ReasoningOptions, TextOptions } from "./text-format.ts";

/** What OpenAI charges by. */
export type ServiceTier = "auto" | "default" | "flex" | "scale" | "priority" | "fast" | "ultrafast";

/** Why a response has failed, as it stands in the response. */
export interface ResponseError {
  type: string;
  code: string;
  message: string;
  param: string | null;
}

export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** Why a response has ended before the model was done. The first two are the API's own words. */
export type IncompleteReason =
  | "max_output_tokens"
  | "content_filter"
  | "max_agentic_turns"
  | "max_tool_calls"
  | "cancelled";

export interface ResponseObject {
  id: string;
  object: "response";
  /** Seconds, as the API has them. */
  created_at: number;
  completed_at: number | null;
  status: ResponseStatus;
  background: boolean;
  error: ResponseError | null;
  incomplete_details: { reason: IncompleteReason } | null;
  instructions: string | JsonValue[] | null;
  max_output_tokens: number | null;
  max_tool_calls: number | null;
  model: string;
  output: OutputItem[];
  parallel_tool_calls: boolean;
  previous_response_id: string | null;
  /** The conversation that its items are added to, if there is one. */
  conversation?: { id: string };
  prompt_cache_key: string | null;
  reasoning: ReasoningOptions;
  safety_identifier: string | null;
  service_tier: ServiceTier;
  store: boolean;
  temperature: number;
  text: TextOptions;
  tool_choice: JsonValue;
  tools: JsonObject[];
  top_logprobs: number;
  top_p: number;
  presence_penalty: number;
  frequency_penalty: number;
  truncation: "auto" | "disabled";
  usage: ResponseUsage | null;
  metadata: Record<string, string>;
}
