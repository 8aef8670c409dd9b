// An error that is sent to the client: an HTTP status, and `{ error: { message, type, param, code } }`.

export interface ApiErrorOptions {
  /** The HTTP status. */
  status: number;
  /** The family of the error. Default: by the status, such as `invalid_request_error` for 4xx. */
  type?: string;
  /** A stable name of the problem, if there is one. */
  code?: string | null;
  /** The invalid field, such as `input[0].content`. */
  param?: string | null;
  /** For 429 and 503: when to retry. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Thrown anywhere below the routes, which reply with it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, type, code, param, retryAfterMs, cause }: ApiErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.type = type ?? typeOf(status);
    this.code = code ?? null;
    this.param = param ?? null;
    this.retryAfterMs = retryAfterMs;
  }
}

function typeOf(status: number): string {
  if (status >= 500) return "server_error";
  if (status === 403) return "permission_error";
  return status === 429 ? "rate_limit_error" : "invalid_request_error";
}

/** A 400 with the invalid field and the reason. */
export function invalidRequest(param: string | null, message: string, code = "invalid_request"): ApiError {
  return new ApiError(message, { status: 400, param, code });
}

/** A 404: it does not exist, or belongs to another owner. */
export function notFound(message: string, code: string | null = null, param: string | null = null): ApiError {
  return new ApiError(message, { status: 404, code, param });
}

/** A 429: an owner has too much in flight. */
export function tooManyRequests(message: string): ApiError {
  return new ApiError(message, { status: 429, code: "too_many_requests", retryAfterMs: 1000 });
}
