// What the pages Tools, Models and System read of the server's replies. The server may send more.

export interface ToolInfo {
  readonly name: string;
  readonly kind: "local" | "mcp" | "sandbox";
  readonly server_label: string | null;
  readonly description: string | null;
  readonly input_schema: unknown;
  readonly requires_approval: boolean;
  /** Whether requests get it without naming it. */
  readonly is_offered: boolean;
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
  readonly output: string;
  /** Whether it was too long to send all of it. */
  readonly is_cut: boolean;
  readonly duration_ms: number;
}

export interface ModelFact {
  readonly name: string;
  readonly value: unknown;
  readonly from: string;
}

export interface ModelInfo {
  readonly id: string;
  readonly endpoint: string | null;
  readonly kind: string | null;
  readonly profile: readonly ModelFact[];
  readonly context_window: number | null;
  readonly slots: { readonly limit: number | null; readonly taken: number; readonly waiting: number } | null;
}

/** `GET /v1/system/models`. */
export interface ModelList {
  readonly data: readonly ModelInfo[];
}

export interface CheckResult {
  readonly status: "ok" | "warning" | "failed" | "skipped";
  readonly detail: string;
  readonly ms: number;
}

/** A row of `GET /v1/system/samples`. */
export interface SystemSample {
  readonly at_ms: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly first_token_ms: number | null;
  readonly rss_bytes: number;
  readonly heap_bytes: number;
  /** These two are null if nobody looked then. */
  readonly queued: number | null;
  readonly running: number | null;
  readonly streams: number;
  readonly event_loop_ms: number;
}

/** A row of `GET /v1/system/log`. */
export interface LogLine {
  readonly n: number;
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogTail {
  readonly data: readonly LogLine[];
  readonly next: number;
  /** Of the server's process, which the numbers belong to. */
  readonly boot_id: string;
}
