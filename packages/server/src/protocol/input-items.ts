// The items of a request's input: validated, and normalised for the engine.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { content, contentPart } from "./content-parts.ts";
import type { InputItem } from "./items.ts";
import { openUnion } from "./open-union.ts";
import { tool } from "./tools.ts";

const name = z.string().min(1);
const callId = z.string().min(1);
const common = { id: z.string().nullish(), status: z.string().nullish(), created_by: z.string().nullish() };
/** The program that made a call: kept, and without effect here. */
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

/** The output of a call that the client has run. */
const callOutput = <Type extends string>(type: Type) =>
  z.looseObject({
    ...common,
    type: z.literal(type),
    call_id: callId,
    output: z.union([z.string(), z.array(contentPart)]),
    name: z.string().nullish(),
    namespace: z.string().nullish(),
    caller,
  });

/** Calls of tools that the client runs, and their outputs. */
const shellCall = z.looseObject({
  ...common,
  type: z.literal("shell_call"),
  call_id: callId,
  action: z.looseObject({ commands: z.array(z.string()) }),
  environment: z.looseObject({ type: z.string() }).nullish(),
  caller,
});

const shellCallOutput = z.looseObject({
  ...common,
  type: z.literal("shell_call_output"),
  call_id: callId,
  output: z.array(z.looseObject({ stdout: z.string(), stderr: z.string() })),
  max_output_length: z.number().nullish(),
  caller,
});

const localShellCall = z.looseObject({
  ...common,
  type: z.literal("local_shell_call"),
  call_id: z.string().nullish(),
  action: z.looseObject({ type: z.string(), command: z.array(z.string()) }),
});

const localShellCallOutput = z.looseObject({
  ...common,
  type: z.literal("local_shell_call_output"),
  call_id: z.string().nullish(),
  output: z.string(),
});

const applyPatchCall = z.looseObject({
  ...common,
  type: z.literal("apply_patch_call"),
  call_id: callId,
  operation: z.looseObject({ type: z.string(), path: z.string() }),
  caller,
});

const applyPatchCallOutput = z.looseObject({
  ...common,
  type: z.literal("apply_patch_call_output"),
  call_id: callId,
  output: z.string().nullish(),
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

/** Offers the model more tools from here on. */
const additionalTools = z.looseObject({
  ...common,
  type: z.literal("additional_tools"),
  role: z.string().nullish(),
  tools: z.array(tool),
});

/** The result of a client's search for tools: they are offered from here on. */
const toolSearchOutput = z.looseObject({
  ...common,
  type: z.literal("tool_search_output"),
  call_id: z.string().nullish(),
  tools: z.array(tool),
});

/** A sealed summary of the conversation before it. */
const compaction = z.looseObject({
  ...common,
  type: z.literal("compaction"),
  encrypted_content: z.string(),
});

/** As the last item: compacts the conversation, in place of an answer. */
const compactionTrigger = z.looseObject({ ...common, type: z.literal("compaction_trigger") });

export const knownItems = z.discriminatedUnion("type", [
  message,
  functionCall,
  callOutput("function_call_output"),
  customToolCall,
  callOutput("custom_tool_call_output"),
  reasoning,
  itemReference,
  mcpCall,
  mcpListTools,
  mcpApprovalRequest,
  mcpApprovalResponse,
  additionalTools,
  toolSearchOutput,
  compaction,
  compactionTrigger,
  shellCall,
  shellCallOutput,
  localShellCall,
  localShellCallOutput,
  applyPatchCall,
  applyPatchCallOutput,
]);

/** A reference without a type, which the API allows. An object with a role is a message. */
const bareReference = z.looseObject({
  type: z.null().optional(),
  role: z.never().optional(),
  id: z.string().min(1),
});

export const inputItem = z.union([openUnion(knownItems), bareReference]);

/** A string, or a list of items. */
export const input = z.union([z.string(), z.array(inputItem)]);

/** The items of a valid input: all with a type, a string as a message of the user. A null id counts as absent. */
export function toItems(given: string | readonly JsonObject[]): InputItem[] {
  if (typeof given === "string") return [{ type: "message", role: "user", content: given }];
  return given.map((item) => {
    // As it is, where nothing has to change: copies of long inputs are not free.
    if (typeof item["type"] === "string" && item["id"] !== null && item["type"] !== "local_shell_call_output")
      return item as InputItem;
    const { type, id, ...rest } = item;
    // The API names the call of a local shell by `id` alone, which a stored item does not keep.
    if (type === "local_shell_call_output") rest["call_id"] ??= id ?? null;
    const known: JsonValue = type ?? (rest["role"] === undefined ? "item_reference" : "message");
    return { type: known as string, ...(typeof id === "string" ? { id } : {}), ...rest };
  });
}
