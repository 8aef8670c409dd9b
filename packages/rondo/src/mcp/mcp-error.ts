// Errors between this library and an MCP server.

import { brandError, RondoError } from "../error/rondo-error.ts";

/** The server cannot be reached, died, or was closed. The message says which, and quotes its last output. */
export class McpConnectionError extends RondoError {
  static {
    brandError(McpConnectionError, "McpConnectionError");
  }
  readonly code = "mcp_unreachable";
  /** The name of the server. */
  readonly server: string;

  constructor(server: string, problem: string, options?: ErrorOptions) {
    super(`The MCP server '${server}' ${problem}`, options);
    this.server = server;
  }
}

/** The call failed: the server answered with a protocol error, or with too much. */
export class McpCallError extends RondoError {
  static {
    brandError(McpCallError, "McpCallError");
  }
  readonly code = "mcp_call_failed";
  readonly server: string;

  constructor(server: string, cause: Error, problem = "refused the call") {
    super(`The MCP server '${server}' ${problem}: ${cause.message}`, { cause });
    this.server = server;
  }
}
