// What the page of a run reads of `GET /v1/responses/{id}`.

import type { RunStatus } from "../../api/types.ts";
import type { Item } from "../trace/items.ts";

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
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  readonly usage: {
    readonly input_tokens: number;
    readonly input_tokens_details?: { readonly cached_tokens?: number };
    readonly output_tokens: number;
    readonly total_tokens: number;
  } | null;
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
  readonly background: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Settings, as they were sent or by default. */
  readonly [setting: string]: unknown;
}

/** Whether it still waits or runs. */
export function isActive({ status }: Pick<ResponseObject, "status">): boolean {
  return status === "queued" || status === "in_progress";
}
