// Maps errors of a run to what the client gets: the HTTP status, and the error in the response.

import { ModelError, TimeoutError } from "rondo";
import {
  ContextLengthError,
  ModelAuthError,
  ModelConnectionError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "rondo/errors";
import { hideAddress, seesAddresses } from "../protocol/addresses.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { ResponseError } from "../protocol/response.ts";
import { publicReason, StoreError, storeRetryMs } from "../store/store-error.ts";

/** Any error as an API error for this owner. Internal errors reveal nothing. */
export function toApiError(error: unknown, owner: string | undefined): ApiError {
  if (error instanceof ApiError) return error;
  const said = seesAddresses(owner) ? messageOf(error) : withoutAddress(error);
  const make = (status: number, type: string, code: string, retryAfterMs?: number) =>
    new ApiError(said, { status, type, code, retryAfterMs, cause: error });
  if (error instanceof ContextLengthError)
    return new ApiError(said, {
      status: 400,
      type: "invalid_request_error",
      code: error.code,
      param: "input",
      cause: error,
    });
  if (error instanceof ModelRequestError) return make(400, "invalid_request_error", error.code);
  if (error instanceof ModelAuthError)
    // Not the model server's message: it may contain the key.
    return new ApiError(
      "The model server does not accept the key that this server has for it. Whoever runs this server has to set the right apiKey.",
      { status: 502, type: "server_error", code: "model_auth", cause: error },
    );
  if (error instanceof ModelNotFoundError) return make(404, "invalid_request_error", error.code);
  if (error instanceof ModelRateLimitError)
    return make(429, "rate_limit_error", "rate_limit_exceeded", error.retryAfterMs);
  if (error instanceof ModelServerError)
    return make(error.isLoading ? 503 : 502, "server_error", error.code, error.retryAfterMs);
  if (error instanceof ModelConnectionError) return make(503, "server_error", error.code);
  if (error instanceof ModelError) return make(502, "server_error", error.code);
  if (error instanceof TimeoutError) return make(504, "server_error", error.code);
  if (error instanceof StoreError)
    return new ApiError(`The response could not be kept: ${publicReason(error) ?? firstSentence(error)}.`, {
      status: 503,
      type: "server_error",
      code: "store_unavailable",
      retryAfterMs: storeRetryMs(error),
      cause: error,
    });
  return new ApiError("Something went wrong in this server; its log says what.", {
    status: 500,
    type: "server_error",
    code: "server_error",
    cause: error,
  });
}

/** Errors of model servers name the server's address. */
function withoutAddress(error: unknown): string {
  const { endpoint } = Object(error) as { endpoint?: unknown };
  return typeof endpoint === "string" ? hideAddress(messageOf(error), endpoint) : messageOf(error);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

/** The rest names files, which are for the operator. */
function firstSentence({ message }: Error): string | undefined {
  return message.split(/[.:](?:\s|$)/, 1)[0];
}

export function toResponseError({ type, code, message, param }: ApiError): ResponseError {
  return { type, code: code ?? "server_error", message, param };
}
