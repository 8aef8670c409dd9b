// The items of a request's input: what each must have, and the one form that the engine gets them in.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { content, contentPart } from "./content-parts.ts";
import type { InputItem } from "./items.ts";
import { openUnion } from "./open-union.ts";
import { tool } from "./tools.ts";

const name = z.string().min(1);
const callId = z.string().min(1);
const common = { id: z.string().nullish(), status: z.string().nullish(), created_by: z.string().nullish() };
/** Who has made a call, where programs may: kept, and of no effect here. */
const caller = z.looseObject({ type: z.string() }).nullish();

const message = z.looseObject({
  ...common,
  type: z.literal("message").nullish(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content,
  phase: z.string().nullish(),
});

const functionCall = z.looseObject({
  ...common,
  type: z.literal("function_call"),
  call_id: callId,
  name,
  arguments: z.string(),
  namespace: z.string().nullish(),
  async: z.boolean().nullish(),
  caller,
});

const functionCallOutput = z.looseObject({
  ...common,
  type: z.literal("function_call_output"),
  call_id: callId,
  output: z.union([z.string(), z.array(contentPart)]),
  name: z.string().nullish(),
  namespace: z.string().nullish(),
  caller,
});

const customToolCall = z.looseObject({
  ...common,
  type: z.literal("custom_tool_call"),
  call_id: callId,
  name,
  input: z.string(),
  namespace: z.string().nullish(),
  async: z.boolean().nullish(),
  caller,
});

const customToolCallOutput = z.looseObject({
  ...common,
  type: z.literal("custom_tool_call_output"),
  call_id: callId,
  output: z.union([z.string(), z.array(contentPart)]),
  name: z.string().nullish(),
  namespace: z.string().nullish(),
  caller,
});

const thought = z.looseObject({ type: z.string(), text: z.string() });

const reasoning = z.looseObject({
  ...common,
  type: z.literal("reasoning"),
  summary: z.array(thought).nullish(),
  content: z.array(thought).nullish(),
  encrypted_content: z.string().nullish(),
});

const itemReference = z.looseObject({ type: z.literal("item_reference"), id: z.string().min(1) });

const mcpCall = z.looseObject({
  ...common,
  type: z.literal("mcp_call"),
  server_label: z.string(),
  name,
  arguments: z.string(),
  output: z.string().nullish(),
  error: z.union([z.string(), z.looseObject({})]).nullish(),
  approval_request_id: z.string().nullish(),
});

const mcpListTools = z.looseObject({
  ...common,
  type: z.literal("mcp_list_tools"),
  server_label: z.string(),
  tools: z.array(z.looseObject({ name: z.string() })),
  error: z.union([z.string(), z.looseObject({})]).nullish(),
});

const mcpApprovalRequest = z.looseObject({
  ...common,
  type: z.literal("mcp_approval_request"),
  id: z.string().min(1),
  server_label: z.string(),
  name,
  arguments: z.string(),
});

const mcpApprovalResponse = z.looseObject({
  ...common,
  type: z.literal("mcp_approval_response"),
  approval_request_id: z.string().min(1),
  approve: z.boolean(),
  reason: z.string().nullish(),
});

/** Tools that the model has from here on. */
const additionalTools = z.looseObject({
  ...common,
  type: z.literal("additional_tools"),
  role: z.string().nullish(),
  tools: z.array(tool),
});

/** What a client's search for tools has found: the model has them from here on. */
const toolSearchOutput = z.looseObject({
  ...common,
  type: z.literal("tool_search_output"),
  call_id: z.string().nullish(),
  tools: z.array(tool),
});

export const knownItems = z.discriminatedUnion("type", [
  message,
  functionCall,
  functionCallOutput,
  customToolCall,
  customToolCallOutput,
  reasoning,
  itemReference,
  mcpCall,
  mcpListTools,
  mcpApprovalRequest,
  mcpApprovalResponse,
  additionalTools,
  toolSearchOutput,
]);

/** The API allows a reference without a type. What has a role is a message, though. */
const bareReference = z.looseObject({
  type: z.null().optional(),
  role: z.never().optional(),
  id: z.string().min(1),
});

export const inputItem = z.union([openUnion(knownItems), bareReference]);

/** Text, or a list of items. */
export const input = z.union([z.string(), z.array(inputItem)]);

/** The items of a valid input: all with a type, text as a message of the user. Null for an id is no id. */
export function toItems(given: string | readonly JsonObject[]): InputItem[] {
  if (typeof given === "string") return [{ type: "message", role: "user", content: given }];
  return given.map((item) => {
    const { type, id, ...rest } = item;
    const known: JsonValue = type ?? (rest["role"] === undefined ? "item_reference" : "message");
    return { type: known as string, ...(typeof id === "string" ? { id } : {}), ...rest };
  });
}
