// An error that a client is told over HTTP: its status, and `{ error: { message, type, param, code } }`.

export interface ApiErrorOptions {
  /** The HTTP status. */
  status: number;
  /** The family of the error, such as `invalid_request_error`. */
  type: string;
  /** A stable name of the problem, if there is one. */
  code?: string | null;
  /** The field that is wrong, such as `input[0].content`. */
  param?: string | null;
  /** For 429 and 503: when to ask again. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Thrown anywhere below the routes, answered by them. */
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
    this.type = type;
    this.code = code ?? null;
    this.param = param ?? null;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The request is wrong: 400 with the field and the reason. */
export function invalidRequest(param: string | null, message: string, code = "invalid_request"): ApiError {
  return new ApiError(message, { status: 400, type: "invalid_request_error", param, code });
}

/** What was asked for does not exist, or belongs to someone else. */
export function notFound(message: string, code?: string, param?: string): ApiError {
  return new ApiError(message, {
    status: 404,
    type: "invalid_request_error",
    code: code ?? null,
    param: param ?? null,
  });
}

/** An owner has too much under way: 429, to be tried again. */
export function tooManyRequests(message: string): ApiError {
  return new ApiError(message, {
    status: 429,
    type: "rate_limit_error",
    code: "too_many_requests",
    retryAfterMs: 1000,
  });
}
