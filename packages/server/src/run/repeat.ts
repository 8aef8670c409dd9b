// A repeated request with the same key gets the response of the first, and nothing runs twice.

import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import type { ResponseError } from "../protocol/response.ts";
import { isTerminal } from "../protocol/status.ts";
import type { RepeatKey, Store, StoredResponse } from "../store/store.ts";
import { NewsReader, type NewsSource } from "./news-reader.ts";
import { readThroughOutage } from "./outage.ts";

export type { RepeatKey };

/** The response of this key. Throws a 422 if it was used for another request. */
export async function findRepeated(
  store: Store,
  owner: string,
  { key, fingerprint }: RepeatKey,
): Promise<string | undefined> {
  const found = await store.findByKey(owner, key);
  if (found && found.fingerprint !== fingerprint)
    throw new ApiError(
      `The Idempotency-Key ${JSON.stringify(key)} was used before, for a request with another body. Give each request a key of its own.`,
      { status: 422, type: "invalid_request_error", code: "idempotency_key_reused", param: null },
    );
  return found?.responseId;
}

/** Waits for the end of a response that another request runs. Undefined when it was deleted. */
export async function waitForEnd(
  source: NewsSource & { readonly store: Store },
  owner: string,
  id: string,
  signal: AbortSignal,
): Promise<StoredResponse | undefined> {
  while (true) {
    signal.throwIfAborted();
    using reader = new NewsReader(source, id, signal);
    const response = await readThroughOutage(() => source.store.get(owner, id), { signal });
    if (!response || isTerminal(response.status)) return response;
    await reader.arrived;
  }
}

/** Throws a 400 for a request whose response is not stored, and could not be repeated. */
export function checkRepeatable(isStored: boolean): void {
  if (isStored) return;
  throw invalidRequest(
    "store",
    "A request with an Idempotency-Key must not have store: false: there would be nothing to give again. Leave out one of them.",
    "idempotency_key_needs_store",
  );
}

/** The error of a failed response, as the first request received it. */
export function toFailure({ type, code, message, param }: ResponseError): ApiError {
  return new ApiError(message, { status: statusOf(type, code), type, code, param });
}

function statusOf(type: string, code: string): number {
  if (type === "rate_limit_error") return 429;
  if (type === "invalid_request_error") return code.endsWith("not_found") ? 404 : 400;
  if (/timeout/.test(code)) return 504;
  if (code === "store_unavailable") return 503;
  return code.startsWith("model_") ? 502 : 500;
}
