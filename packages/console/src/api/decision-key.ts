// The Idempotency-Key of a decision about calls. It is the same in all tabs and on all pages, so that of several
// decisions only the first runs anything: the server answers the same one with the same response, and refuses others.

import { ApiError } from "./api.ts";

/**
 * The key of the request that decides about the calls of a response. All of them are decided together, so the response
 * alone names the decision; what was decided is not part of it.
 */
export function decisionKey(responseId: string): string {
  return `decision-${responseId}`;
}

/** Whether the server refused a decision because another one came first. */
export function isDecidedBefore(error: unknown): boolean {
  return error instanceof ApiError && error.code === "idempotency_key_reused";
}
