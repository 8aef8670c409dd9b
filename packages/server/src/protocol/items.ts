// The items of a response's output, as schemas and as the types that follow from them. Output is built by the types
// alone and never validated; the schemas describe it in the OpenAPI document.

import type { JsonObject, JsonValue } from "rondo";
import { z } from "zod";
import { openUnion } from "./open-union.ts";
import { type ItemStatus, itemStatuses } from "./status.ts";

/** Any JSON. */
export const json = z.json() as z.ZodType<JsonValue>;
export const jsonObject = z.record(z.string(), json) as z.ZodType<JsonObject>;

/** A list that is always empty. */
export const empty = z.array(z.never());

const status = z.enum(itemStatuses);

/** A file of a container that the text names. The indexes count characters. */
export const annotation = z.object({
  type: z.literal("container_file_citation"),
  container_id: z.string(),
  file_id: z.string(),
  filename: z.string(),
  start_index: z.int(),
  end_index: z.int(),
});

export const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(annotation),
  logprobs: empty,
});

export const reasoningText = z.object({ type: z.literal("reasoning_text"), text: z.string() });

export const summaryText = z.object({ type: z.literal("summary_text"), text: z.string() });

/** Text of the model. */
const message = z.object({
  type: z.literal("message"),
  id: z.string(),
  role: z.literal("assistant"),
  status,
  content: z.array(outputText),
});

/** Thinking of the model. */
const reasoning = z.object({
  type: z.literal("reasoning"),
  id: z.string(),
  /** The thinking, or empty where it is in `content`. */
  summary: z.array(summaryText),
  content: z.array(reasoningText).exactOptional(),
  /** The thinking sealed by this server, for clients that keep the conversation themselves. */
  encrypted_content: z.string().exactOptional(),
  status,
});

/** A call that the client runs. */
const functionCall = z.object({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  /** The namespace that the client has put the tool into. */
  namespace: z.string().exactOptional(),
  arguments: z.string(),
  status,
});

/** A call of a custom tool, which takes plain text. The client runs it. */
const customToolCall = z.object({
  type: z.literal("custom_tool_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  namespace: z.string().exactOptional(),
  input: z.string(),
});

/** Why a call of the server failed, in the shape of MCP tool results. */
const mcpCallError = z.object({
  type: z.literal("mcp_tool_execution_error"),
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
});

/** A call that the server has run or rejected. */
const mcpCall = z.object({
  type: z.literal("mcp_call"),
  id: z.string(),
  /** `local` for the tools of the config file. */
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
  output: z.string().nullable(),
  error: mcpCallError.nullable(),
  status,
  /** The request by which a person approved it, if it needed approval. */
  approval_request_id: z.string().nullable(),
});

/** A tool of an MCP server, as the server describes it. */
const mcpListedTool = z.object({
  name: z.string(),
  description: z.string().nullable(),
  input_schema: jsonObject,
  annotations: jsonObject.nullable(),
});

/** The tools of an MCP server, or why they could not be listed. */
const mcpListTools = z.object({
  type: z.literal("mcp_list_tools"),
  id: z.string(),
  server_label: z.string(),
  tools: z.array(mcpListedTool),
  error: z.string().nullable(),
});

/** A call that the server runs once a person approves it. */
const mcpApprovalRequest = z.object({
  type: z.literal("mcp_approval_request"),
  /** Signs the rest of the item: it approves nothing else. */
  id: z.string(),
  server_label: z.string(),
  name: z.string(),
  arguments: z.string(),
});

/** A sealed summary of the conversation before it. */
const compaction = z.object({ type: z.literal("compaction"), id: z.string(), encrypted_content: z.string() });

const knownOutputItem = z.discriminatedUnion("type", [
  message,
  reasoning,
  functionCall,
  customToolCall,
  mcpCall,
  mcpListTools,
  mcpApprovalRequest,
  compaction,
]);

export type ContainerFileCitation = z.infer<typeof annotation>;
export type Annotation = ContainerFileCitation;
export type OutputText = z.infer<typeof outputText>;
export type MessageItem = z.infer<typeof message>;
export type ReasoningItem = z.infer<typeof reasoning>;
export type FunctionCallItem = z.infer<typeof functionCall>;
export type McpCallItem = z.infer<typeof mcpCall>;
export type McpListedTool = z.infer<typeof mcpListedTool>;
export type McpListToolsItem = z.infer<typeof mcpListTools>;
export type McpApprovalRequestItem = z.infer<typeof mcpApprovalRequest>;

/** The items that the server itself makes. */
export type KnownOutputItem = z.infer<typeof knownOutputItem>;

/**
 * The type of an item that an executor makes: one of the API's types for hosted tools, or a name of the executor's own
 * after that of its vendor, such as `acme.web_search_call`. Never the type of a known item, so that comparing `type`
 * narrows an `OutputItem`.
 */
export type ExtensionType =
  | `${string}.${string}`
  | `${string}:${string}`
  | "code_interpreter_call"
  | "shell_call"
  | "shell_call_output"
  | "local_shell_call"
  | "apply_patch_call"
  | "tool_search_call"
  | "tool_search_output"
  | "file_search_call"
  | "web_search_call"
  | "image_generation_call";

/** An item that an executor makes. It is stored, shown and taken back as input as it is. */
export type ExtensionItem = JsonObject & {
  type: ExtensionType;
  id: string;
  status?: ItemStatus;
};

export type OutputItem = KnownOutputItem | ExtensionItem;

export const outputItemSchema = openUnion(knownOutputItem, {
  id: z.string(),
  status: status.exactOptional(),
}) as unknown as z.ZodType<OutputItem>;

/** An item of a request, after validation: known ones have the fields of their type, others are as they came. */
export type InputItem = JsonObject & { type: string; id?: string };
