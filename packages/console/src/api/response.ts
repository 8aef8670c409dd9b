// What the console reads of a response and of its items. The server may send more.

import type { RunStatus } from "./types.ts";

export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: string | { readonly url: string } | null;
  readonly filename?: string | null;
}

/** An item of a request's input or of a response's output. Only `type` is certain. */
export interface Item {
  readonly type: string;
  readonly id?: string;
  readonly status?: string;
  readonly role?: string;
  readonly content?: string | readonly ContentPart[] | null;
  readonly summary?: readonly ContentPart[];
  readonly call_id?: string;
  readonly name?: string;
  readonly server_label?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly code?: string | null;
  readonly output?: unknown;
  readonly outputs?: unknown;
  readonly error?: unknown;
  readonly approval_request_id?: string | null;
  readonly approve?: boolean;
  readonly [field: string]: unknown;
}

export interface ResponseProblem {
  readonly code: string;
  readonly message: string;
}

/** `GET /v1/responses/{id}`. */
export interface ResponseObject {
  readonly id: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: RunStatus;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly model: string;
  readonly previous_response_id: string | null;
  readonly conversation?: { readonly id: string };
  readonly instructions: unknown;
  readonly output: readonly Item[];
  readonly store: boolean;
  readonly background: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  readonly error: ResponseProblem | null;
  readonly tools: readonly Item[];
  readonly text: { readonly format: { readonly type: string; readonly schema?: unknown } };
  readonly temperature: number;
  readonly max_output_tokens: number | null;
  readonly reasoning: { readonly effort: string | null };
  readonly usage: {
    readonly input_tokens: number;
    readonly input_tokens_details?: { readonly cached_tokens?: number };
    readonly output_tokens: number;
    readonly total_tokens: number;
  } | null;
  readonly warnings?: readonly ResponseProblem[];
  /** Other settings, as they were sent or by default. */
  readonly [setting: string]: unknown;
}

/** Whether a response still waits or runs, so that it can change. */
export function isRunning({ status }: Pick<ResponseObject, "status">): boolean {
  return status === "queued" || status === "in_progress";
}
