// The events of a stream, as schemas and as the types that follow from them. Events are built by the types alone and
// never validated.

import type { JsonValue } from "rondo";
import { z } from "zod";
import {
  annotation,
  type ExtensionType,
  empty,
  outputItemSchema,
  outputText,
  reasoningText,
  summaryText,
} from "./items.ts";
import { openUnion } from "./open-union.ts";
import { responseErrorSchema, responseSchema } from "./response.ts";

const inItem = { item_id: z.string(), output_index: z.int() };
const inSummary = { ...inItem, summary_index: z.int() };
const inPart = { ...inItem, content_index: z.int() };

const knownBodies = [
  z.object({
    type: z.enum([
      "response.created",
      "response.queued",
      "response.in_progress",
      "response.completed",
      "response.incomplete",
      "response.failed",
    ]),
    response: responseSchema,
  }),
  z.object({
    type: z.enum(["response.output_item.added", "response.output_item.done"]),
    output_index: z.int(),
    item: outputItemSchema,
  }),
  z.object({
    type: z.enum(["response.content_part.added", "response.content_part.done"]),
    part: z.discriminatedUnion("type", [outputText, reasoningText]),
    ...inPart,
  }),
  z.object({
    type: z.literal("response.output_text.delta"),
    delta: z.string(),
    logprobs: empty,
    ...inPart,
  }),
  z.object({
    type: z.literal("response.output_text.annotation.added"),
    annotation,
    annotation_index: z.int(),
    ...inPart,
  }),
  z.object({ type: z.literal("response.output_text.done"), text: z.string(), logprobs: empty, ...inPart }),
  z.object({
    type: z.enum(["response.reasoning_summary_part.added", "response.reasoning_summary_part.done"]),
    part: summaryText,
    ...inSummary,
  }),
  z.object({ type: z.literal("response.reasoning_summary_text.delta"), delta: z.string(), ...inSummary }),
  z.object({ type: z.literal("response.reasoning_summary_text.done"), text: z.string(), ...inSummary }),
  z.object({ type: z.literal("response.reasoning_text.delta"), delta: z.string(), ...inPart }),
  z.object({ type: z.literal("response.reasoning_text.done"), text: z.string(), ...inPart }),
  z.object({
    type: z.enum([
      "response.function_call_arguments.delta",
      "response.custom_tool_call_input.delta",
      "response.mcp_call_arguments.delta",
    ]),
    delta: z.string(),
    ...inItem,
  }),
  z.object({
    type: z.literal("response.function_call_arguments.done"),
    name: z.string(),
    arguments: z.string(),
    ...inItem,
  }),
  z.object({ type: z.literal("response.custom_tool_call_input.done"), input: z.string(), ...inItem }),
  z.object({ type: z.literal("response.mcp_call_arguments.done"), arguments: z.string(), ...inItem }),
  z.object({
    type: z.enum([
      "response.mcp_call.in_progress",
      "response.mcp_call.completed",
      "response.mcp_call.failed",
      "response.mcp_list_tools.in_progress",
      "response.mcp_list_tools.completed",
      "response.mcp_list_tools.failed",
    ]),
    ...inItem,
  }),
  // The same facts twice: flat as the API has them, and nested as some clients look for them.
  z.object({
    type: z.literal("error"),
    code: z.string(),
    message: z.string(),
    param: z.string().nullable(),
    error: responseErrorSchema,
  }),
  z.object({ type: z.literal("keepalive") }),
] as const;

/** The events that the server itself sends, without `sequence_number`. */
export type KnownEventBody = z.infer<(typeof knownBodies)[number]>;

/** What all events about an executor's items have. Readers need no more to tell them from the known ones. */
interface ExtensionEventBase {
  type:
    | `response.${ExtensionType}.${string}`
    | `response.code_interpreter_call_code.${string}`
    | `response.shell_call_command.${string}`
    | `response.shell_call_output_content.${string}`;
  item_id: string;
  output_index: number;
}

/** An event about an item that an executor makes, such as `response.acme.web_search_call.searching`. */
export interface ExtensionEvent extends ExtensionEventBase {
  [key: string]: JsonValue;
}

/** An event before it has its place in the stream. */
export type EventBody = KnownEventBody | ExtensionEventBase;

export type StreamEvent = EventBody & { sequence_number: number };

const sequence = { sequence_number: z.int().describe("Counts from 0 without gaps.") };
const [first, ...others] = knownBodies;

export const streamEventSchema = openUnion(
  z.discriminatedUnion("type", [first.extend(sequence), ...others.map((body) => body.extend(sequence))]),
  { ...inItem, ...sequence },
);
