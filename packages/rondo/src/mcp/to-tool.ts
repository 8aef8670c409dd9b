// A tool of an MCP server as a tool of this library.

import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/client";
import { tool } from "../tool/define.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { AnyTool } from "../tool/tool.ts";
// oxlint-disable-next-line import/no-unassigned-import -- tools run as turns, also where `rondo` is not imported
import "../turn/turn.ts";

/** Runs a call on the server. */
export type CallMcpTool = (
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<CallToolResult>;

/** Throws where this library cannot use the schema of the tool. */
export function toTool(
  name: string,
  { name: nameThere, title, description, inputSchema, outputSchema, annotations }: McpTool,
  timeoutMs: number,
  call: CallMcpTool,
): AnyTool {
  return tool(
    {
      name,
      description: description ?? title ?? annotations?.title ?? "",
      input: inputSchema as JsonSchema,
      ...(outputSchema && { output: outputSchema }),
      // Hints are only claims; but a server that says so must stand a second call.
      idempotent: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
      timeoutMs,
      registry: false,
    },
    async (input, { signal }): Promise<CallToolResult> =>
      call(nameThere, input as Record<string, unknown>, signal),
  );
}
