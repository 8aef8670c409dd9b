// The response object, as a schema and as the type that follows from it: all keys of the API, always, with null where
// there is no value.

import { z } from "zod";
import { json, jsonObject, outputItemSchema } from "./items.ts";
import { responseStatuses } from "./status.ts";
import { reasoningEcho, textEcho } from "./text-format.ts";

/** The tiers of the API. They have no effect here, and are echoed. */
export const serviceTiers = ["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"] as const;

export const responseErrorSchema = z.object({
  type: z.string(),
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
});

export const usageSchema = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({
    cached_tokens: z.int(),
    /** At least so many tokens of the prompts the model server left out; only if it certainly did. */
    cut_tokens: z.int().exactOptional(),
  }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
  /** Whether a part of it is an estimate, because the model server did not report it. Default: false. */
  estimated: z.literal(true).exactOptional(),
});

/** Why a response ended before the model was done. The first two are the API's own. */
const incompleteReason = z.enum([
  "max_output_tokens",
  "content_filter",
  "max_agentic_turns",
  "max_tool_calls",
  "cancelled",
]);

const seconds = z.int();

export const responseSchema = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(responseStatuses),
  incomplete_details: z.object({ reason: incompleteReason }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  /** The conversation that its items are added to, if there is one. */
  conversation: z.object({ id: z.string() }).exactOptional(),
  instructions: z.union([z.string(), z.array(json)]).nullable(),
  output: z.array(outputItemSchema),
  error: responseErrorSchema.nullable(),
  tools: z.array(jsonObject),
  tool_choice: json,
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: textEcho,
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: reasoningEcho,
  usage: usageSchema.nullable(),
  /** What the client should know about how it came about; an extension, and only if there is something. */
  warnings: z.array(z.object({ code: z.string(), message: z.string() })).exactOptional(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.enum(serviceTiers),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});

/** Why a response failed. */
export type ResponseError = z.infer<typeof responseErrorSchema>;
export type ResponseUsage = z.infer<typeof usageSchema>;
export type ResponseWarning = NonNullable<ResponseObject["warnings"]>[number];
export type IncompleteReason = z.infer<typeof incompleteReason>;
export interface ResponseObject extends z.infer<typeof responseSchema> {}
