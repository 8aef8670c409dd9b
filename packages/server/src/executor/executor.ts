// Who runs a call: the client, this process, an MCP server, a sandbox, or whatever the config brings.

import type { JsonSchema } from "rondo";
import type { ToolDefinition } from "../protocol/tools.ts";

/** How a tool is hosted. `function` is the client's; the config may bring kinds of its own. */
export type ToolKind = "function" | "local" | "mcp" | "sandbox" | (string & {});

/** A model's wish to have a tool run. The arguments are JSON text of an object. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolResult {
  readonly callId: string;
  /** What the model is told. */
  readonly output: string;
  /** Whether `output` is an error message. Default: false. */
  readonly isError?: boolean;
}

export interface ExecuteContext {
  /** Aborted on timeout, cancel, and when the client has gone. */
  readonly signal: AbortSignal;
  readonly responseId: string;
  readonly owner: string;
  /** The same each time this call runs, also after a crash. */
  readonly idempotencyKey: string;
}

export interface ToolExecutor {
  readonly kind: ToolKind;
  /** Whether it runs this tool. Of several executors, the first that can does. */
  canExecute(tool: ToolDefinition): boolean;
  /** Runs a call. What it throws is told to the model as an error. */
  execute(call: ToolCall, context: ExecuteContext): Promise<ToolResult>;
  /** How the model sees a tool that is not a function itself. Default: the tool's own name and parameters. */
  describe?(tool: ToolDefinition): { name: string; description: string; parameters: JsonSchema };
  /** Whether running a call twice does no harm, so that it may be run again after a crash. Default: false. */
  readonly isIdempotent?: boolean;
  /** Time for one call. Default: 60,000. */
  readonly timeoutMs?: number;
}
