// What the pages Tools, Models and System read of the server's replies. The server may send more.

export interface ToolInfo {
  readonly name: string;
  readonly kind: "local" | "mcp" | "sandbox";
  readonly server_label: string | null;
  readonly description: string | null;
  readonly input_schema: unknown;
  readonly requires_approval: boolean;
  /** Whether requests get it without naming it. Default: true, except for the sandbox's. */
  readonly is_offered?: boolean;
}

export interface ToolServer {
  readonly label: string;
  readonly state: "connected" | "connecting" | "failed" | "idle";
  readonly error: string | null;
  readonly tools: number;
}

/** `GET /v1/tools`. */
export interface ToolList {
  readonly data: readonly ToolInfo[];
  readonly servers: readonly ToolServer[];
}

/** `POST /v1/tools/call`. */
export interface ToolOutcome {
  readonly is_error: boolean;
  readonly output: unknown;
  readonly duration_ms: number;
}
