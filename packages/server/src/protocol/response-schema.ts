// The response object and its items as schemas, for the description of the API. Type tests hold them to the types.

import { z } from "zod";
import { serviceTiers } from "./create-request-schema.ts";
import { responseStatuses } from "./query.ts";
import { reasoningEcho, textEcho } from "./text-format.ts";

/** Any JSON: what the client has given. */
export const json = z.json();

const itemStatus = z.enum(["in_progress", "completed", "incomplete", "failed"]);
const seconds = z.int();
const none = z.array(z.never());

export const outputTextSchema = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: none,
  logprobs: none,
});

export const reasoningTextSchema = z.object({ type: z.literal("reasoning_text"), text: z.string() });

const message = z.object({
  type: z.literal("message"),
  id: z.string(),
  role: z.literal("assistant"),
  status: itemStatus,
  content: z.array(outputTextSchema),
});

const reasoning = z.object({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: none,
  content: z.array(reasoningTextSchema),
  encrypted_content: z.string().optional(),
  status: itemStatus,
});

const functionCall = z.object({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  arguments: z.string(),
  status: itemStatus,
});

const customToolCall = z.object({
  type: z.literal("custom_tool_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  input: z.string(),
});

const mcpCall = z.object({
  type: z.literal("mcp_call"),
  id: z.string(),
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
  output: z.string().nullable(),
  error: z
    .object({
      type: z.literal("mcp_tool_execution_error"),
      content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
    })
    .nullable(),
  status: itemStatus,
  approval_request_id: z.string().nullable(),
});

const mcpListTools = z.object({
  type: z.literal("mcp_list_tools"),
  id: z.string(),
  server_label: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      input_schema: z.record(z.string(), json),
      annotations: z.record(z.string(), json).nullable(),
    }),
  ),
  error: z.string().nullable(),
});

const mcpApprovalRequest = z.object({
  type: z.literal("mcp_approval_request"),
  id: z.string(),
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
});

export const outputItemSchema = z.discriminatedUnion("type", [
  message,
  reasoning,
  functionCall,
  customToolCall,
  mcpCall,
  mcpListTools,
  mcpApprovalRequest,
]);

export const responseErrorSchema = z.object({
  type: z.string(),
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
});

export const usageSchema = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

const incompleteReason = z.enum([
  "max_output_tokens",
  "content_filter",
  "max_agentic_turns",
  "max_tool_calls",
  "cancelled",
]);

export const responseSchema = z.object({
  id: z.string(),
  object: z.literal("response"),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(responseStatuses),
  incomplete_details: z.object({ reason: incompleteReason }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  conversation: z.object({ id: z.string() }).exactOptional(),
  instructions: z.union([z.string(), z.array(json)]).nullable(),
  output: z.array(outputItemSchema),
  error: responseErrorSchema.nullable(),
  tools: z.array(z.record(z.string(), json)),
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
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.enum(serviceTiers),
  metadata: z.record(z.string(), z.string()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
});
