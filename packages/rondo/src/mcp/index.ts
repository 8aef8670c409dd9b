// Everything that `rondo/mcp` offers. It needs the package @modelcontextprotocol/client, which nothing else does.

export { McpCallError, McpConnectionError } from "./mcp-error.ts";
export type { McpCommandOptions, McpProgress, McpServerOptions, McpUrlOptions } from "./mcp-options.ts";
export { type McpServer, type McpToolDefinition, mcpServer } from "./mcp-server.ts";
