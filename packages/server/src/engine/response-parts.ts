// The parts of the response object, from a running response or from the store.

import type { OutputItem } from "../protocol/items.ts";
import type { ResponseParts } from "../protocol/response-object.ts";
import type { ResponseStatus } from "../protocol/status.ts";
import { fromStoredRequest } from "../protocol/stored-request.ts";
import type { StoredOutput, StoredResponse } from "../store/store.ts";
import type { Plan } from "./plan.ts";

/** The parts of a response in progress. */
export function planParts(
  plan: Pick<Plan, "id" | "request" | "model" | "createdAtMs">,
  status: ResponseStatus,
  output: readonly OutputItem[],
): ResponseParts {
  return {
    id: plan.id,
    status,
    background: plan.request.background,
    model: plan.model,
    createdAtMs: plan.createdAtMs,
    completedAtMs: null,
    previousResponseId: plan.request.previous_response_id ?? null,
    error: null,
    incompleteReason: null,
    usage: null,
    request: plan.request,
    output,
  };
}

/** The parts of a stored response. */
export function storedParts(response: StoredResponse, output: readonly StoredOutput[]): ResponseParts {
  const { request, ...rest } = response;
  return { ...rest, request: fromStoredRequest(request), output: output.map(({ item }) => item) };
}
