// What the console reads of the server's replies. The server may send more.

export type RunStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "incomplete"
  | "failed"
  | "cancelled"
  | "requires_action";

export interface RunUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens?: number;
}

/** A row of `GET /v1/runs`. */
export interface RunSummary {
  readonly id: string;
  readonly title: string;
  readonly model: string;
  readonly status: RunStatus;
  readonly background: boolean;
  readonly source: string | null;
  readonly thread_id: string;
  readonly previous_response_id: string | null;
  readonly created_at_ms: number;
  readonly completed_at_ms: number | null;
  readonly usage: RunUsage | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

export interface EndpointState {
  readonly name: string;
  readonly url?: string;
  readonly kind?: string | null;
  readonly state: "up" | "down" | "unknown";
  readonly error?: string | null;
  readonly models: readonly string[];
  readonly slots?: { readonly limit: number | null; readonly taken: number; readonly waiting: number };
}

/** `GET /v1/system`. */
export interface SystemState {
  readonly version: string;
  readonly node: string;
  readonly started_at_ms: number;
  readonly store: { readonly kind: string; readonly label: string };
  readonly auth: boolean;
  /** Whose key the request had. */
  readonly owner: string;
  readonly traces: "off" | "timings" | "full";
  readonly sandbox?: { readonly state: "on" | "off" | "untried"; readonly language: string | null };
  readonly endpoints: readonly EndpointState[];
  /** Null if the store does not answer. */
  readonly queue: { readonly queued: number; readonly running: number } | null;
  readonly streams: number;
  readonly is_demo: boolean;
}
