// The events of a stream as schemas, for the description of the API. Type tests hold them to the types.

import { z } from "zod";
import {
  outputItemSchema,
  outputTextSchema,
  reasoningTextSchema,
  responseErrorSchema,
  responseSchema,
} from "./response-schema.ts";

const sequence_number = z.int().describe("Counts from 0 without gaps.");
const inItem = { item_id: z.string(), output_index: z.int(), sequence_number };
const inPart = { ...inItem, content_index: z.int() };
const none = z.array(z.never());

const ofResponse = z.object({
  type: z.enum([
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
  ]),
  response: responseSchema,
  sequence_number,
});

const ofItem = z.object({
  type: z.enum(["response.output_item.added", "response.output_item.done"]),
  output_index: z.int(),
  item: outputItemSchema,
  sequence_number,
});

const ofPart = z.object({
  type: z.enum(["response.content_part.added", "response.content_part.done"]),
  part: z.discriminatedUnion("type", [outputTextSchema, reasoningTextSchema]),
  ...inPart,
});

const textDelta = z.object({
  type: z.literal("response.output_text.delta"),
  delta: z.string(),
  logprobs: none,
  ...inPart,
});
const textDone = z.object({
  type: z.literal("response.output_text.done"),
  text: z.string(),
  logprobs: none,
  ...inPart,
});
const reasoningDelta = z.object({
  type: z.literal("response.reasoning_text.delta"),
  delta: z.string(),
  ...inPart,
});
const reasoningDone = z.object({
  type: z.literal("response.reasoning_text.done"),
  text: z.string(),
  ...inPart,
});
const argumentsDelta = z.object({
  type: z.enum([
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
    "response.mcp_call_arguments.delta",
  ]),
  delta: z.string(),
  ...inItem,
});
const functionCallDone = z.object({
  type: z.literal("response.function_call_arguments.done"),
  name: z.string(),
  arguments: z.string(),
  ...inItem,
});
const customInputDone = z.object({
  type: z.literal("response.custom_tool_call_input.done"),
  input: z.string(),
  ...inItem,
});
const mcpArgumentsDone = z.object({
  type: z.literal("response.mcp_call_arguments.done"),
  arguments: z.string(),
  ...inItem,
});
const mcpCall = z.object({
  type: z.enum(["response.mcp_call.in_progress", "response.mcp_call.completed", "response.mcp_call.failed"]),
  ...inItem,
});
const mcpList = z.object({
  type: z.enum([
    "response.mcp_list_tools.in_progress",
    "response.mcp_list_tools.completed",
    "response.mcp_list_tools.failed",
  ]),
  ...inItem,
});
const error = z.object({
  type: z.literal("error"),
  code: z.string(),
  message: z.string(),
  param: z.string().nullable(),
  error: responseErrorSchema,
  sequence_number,
});
const keepalive = z.object({ type: z.literal("keepalive"), sequence_number });

export const streamEventSchema = z.discriminatedUnion("type", [
  ofResponse,
  ofItem,
  ofPart,
  textDelta,
  textDone,
  reasoningDelta,
  reasoningDone,
  argumentsDelta,
  functionCallDone,
  customInputDone,
  mcpArgumentsDone,
  mcpCall,
  mcpList,
  error,
  keepalive,
]);
