// The items that this server puts into a response, as they stand on the wire, and the ones that it is given.

import type { JsonObject } from "rondo";
import type { ItemStatus } from "./status.ts";

export interface OutputText {
  type: "output_text";
  text: string;
  annotations: never[];
  logprobs: never[];
}

/** What the model has said. */
export interface MessageItem {
  type: "message";
  id: string;
  role: "assistant";
  status: ItemStatus;
  content: OutputText[];
}

/** What the model has thought. */
export interface ReasoningItem {
  type: "reasoning";
  id: string;
  summary: never[];
  content: { type: "reasoning_text"; text: string }[];
  /** The thought in a form that only this server can read, for clients that keep the conversation themselves. */
  encrypted_content?: string;
  status: ItemStatus;
}

/** A call that the client is to run. */
export interface FunctionCallItem {
  type: "function_call";
  id: string;
  call_id: string;
  name: string;
  /** Of a tool that the client has put into one. */
  namespace?: string;
  arguments: string;
  status: ItemStatus;
}

/** A call of a custom tool, which takes plain text, that the client is to run. */
export interface CustomToolCallItem {
  type: "custom_tool_call";
  id: string;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
}

/** Why a call of the server has failed, in the shape that MCP gives to the results of tools. */
export interface McpCallError {
  type: "mcp_tool_execution_error";
  content: { type: "text"; text: string }[];
}

/** A call that the server has run, or has refused to run. */
export interface McpCallItem {
  type: "mcp_call";
  id: string;
  /** `local` for the tools of the config file. */
  server_label: string;
  name: string;
  arguments: string;
  output: string | null;
  error: McpCallError | null;
  status: ItemStatus;
  /** The request by which a person has allowed it, if it needed that. */
  approval_request_id: string | null;
}

/** A tool of an MCP server, as the server describes it. */
export interface McpListedTool {
  name: string;
  description: string | null;
  input_schema: JsonObject;
  annotations: JsonObject | null;
}

/** The tools of an MCP server, or why it has not told them. */
export interface McpListToolsItem {
  type: "mcp_list_tools";
  id: string;
  server_label: string;
  tools: McpListedTool[];
  error: string | null;
}

/** A call that the server runs when a person allows it. */
export interface McpApprovalRequestItem {
  type: "mcp_approval_request";
  /** Signs the rest of the item: nothing else can be approved by it. */
  id: string;
  server_label: string;
  name: string;
  arguments: string;
}

export type OutputItem =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | CustomToolCallItem
  | McpCallItem
  | McpListToolsItem
  | McpApprovalRequestItem;

/** An item of a request, after validation: known ones have the fields of their type, others are as they came. */
export type InputItem = JsonObject & { type: string; id?: string };
