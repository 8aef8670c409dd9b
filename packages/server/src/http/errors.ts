// Turns anything thrown into an error reply: `{ error: { message, type, param, code } }`.

import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import { publicReason, StoreError, storeRetryMs } from "../store/store-error.ts";
import { ClientGone } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { Logger } from "./log.ts";

/** The reason that exchanges are aborted with when the server stops. */
export class ServerStopping extends Error {
  override readonly name = "ServerStopping";

  constructor() {
    super("The server is stopping.");
  }
}

/** The error for the client. Our own faults are logged. */
export function toApiError(error: unknown, exchange: Exchange, logger: Logger): ApiError {
  if (error instanceof ApiError) return error;
  const isStopping = error instanceof ServerStopping || exchange.stopReason instanceof ServerStopping;
  if (isStopping) return stopping();
  if (error instanceof StoreError) {
    if (error.code === "unknown_cursor") return invalidRequest(null, error.message, error.code);
    if (error.code === "unavailable") {
      logger.error("The store is unavailable.", { requestId: exchange.id }, error);
      const reason = publicReason(error);
      return new ApiError(
        `The server's store is unavailable at the moment${reason === undefined ? "" : `: ${reason}`}. What was acknowledged before is safe. Try again; if that does not help, the reason is in the server's log.`,
        { status: 503, code: "store_unavailable", retryAfterMs: storeRetryMs(error), cause: error },
      );
    }
  }
  logger.error("A request failed.", { requestId: exchange.id, route: exchange.route }, error);
  return internalError(exchange.id, error);
}

/** A fault of the server, without its details. */
function internalError(requestId: string, cause: unknown): ApiError {
  return new ApiError(
    `Internal server error. The reason is in the server's log under the request id ${requestId}.`,
    { status: 500, code: "internal_error", cause },
  );
}

/** Replies with an error. Does nothing if the client is gone, or the reply has begun. */
export function replyWithError(error: unknown, exchange: Exchange, logger: Logger): void {
  if (error instanceof ClientGone) return;
  // A run that stops because its client is gone is not a fault.
  if (exchange.stopReason && exchange.outgoing.destroyed && !(error instanceof StoreError)) return;
  const problem = toApiError(error, exchange, logger);
  exchange.errorCode = problem.code ?? undefined;
  const headers: Record<string, string> = {};
  if (problem.retryAfterMs !== undefined)
    headers["retry-after"] = String(Math.ceil(problem.retryAfterMs / 1000));
  if (problem.status === 401) headers["www-authenticate"] = "Bearer";
  exchange.json(problem.status, errorBody(problem), headers);
}

/** The body of an error reply. */
export function errorBody({ message, type, param, code }: ApiError): {
  error: { message: string; type: string; param: string | null; code: string | null };
} {
  return { error: { message, type, param, code } };
}

/** The error for new requests while the server stops, and for those that it aborted. */
export function stopping(): ApiError {
  return new ApiError("The server is stopping. Try again in a moment.", {
    status: 503,
    code: "server_stopping",
    retryAfterMs: 1000,
  });
}
