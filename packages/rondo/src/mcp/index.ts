// The entry `rondo/mcp`. Only it needs the package @modelcontextprotocol/client.

export { McpCallError, McpConnectionError } from "./mcp-error.ts";
export type { McpCommandOptions, McpProgress, McpServerOptions, McpUrlOptions } from "./mcp-options.ts";
export { type McpServer, type McpServerState, type McpToolDefinition, mcpServer } from "./mcp-server.ts";
