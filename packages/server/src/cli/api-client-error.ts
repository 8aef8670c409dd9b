// What goes wrong between a command and a Rondo server, in words and with the next step.

export interface ApiClientErrorOptions extends ErrorOptions {
  /** The HTTP status, where there was an answer. */
  status?: number;
  /** What the API calls it, such as `model_not_found`. */
  code?: string | null;
  /** The field that is wrong. */
  param?: string | null;
  /** Whether no answer came, or only a part of it. Default: false. */
  isConnectionFault?: boolean;
}

/** Thrown by an `ApiClient`. */
export class ApiClientError extends Error {
  override readonly name = "ApiClientError";
  readonly status: number | undefined;
  readonly code: string | null;
  readonly param: string | null;
  /** Whether no answer came, or only a part of it: the same may well work a little later. */
  readonly isConnectionFault: boolean;

  constructor(message: string, options: ApiClientErrorOptions = {}) {
    const { status, code, param, isConnectionFault = false, ...others } = options;
    super(message, others);
    this.status = status;
    this.code = code ?? null;
    this.param = param ?? null;
    this.isConnectionFault = isConnectionFault;
  }
}

export function unreachable(label: string, cause: unknown): ApiClientError {
  return new ApiClientError(
    `No server answers at ${label}: ${reasonOf(cause)}. Start one with \`rondo serve\`, or pass the URL of one that runs.`,
    { cause, isConnectionFault: true },
  );
}

export function brokenStream(label: string, cause: unknown): ApiClientError {
  const why = cause === undefined ? "it ended too early" : reasonOf(cause);
  return new ApiClientError(
    `The stream from ${label} broke off: ${why}. The server may have been stopped; ask again.`,
    { cause, isConnectionFault: true },
  );
}

export function unexpected(label: string, text: string, status?: number): ApiClientError {
  const what = /^\s*</.test(text) ? "a web page" : "something else";
  return new ApiClientError(
    `Expected an answer of a Rondo server from ${label}, got ${what}. Check the URL: it is what \`rondo serve\` prints.`,
    status === undefined ? {} : { status },
  );
}

/** An answer that says no. */
export async function refusal(label: string, response: Response): Promise<ApiClientError> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  const error = errorIn(text);
  const said = typeof error?.message === "string" ? error.message : undefined;
  if (status === 401 || status === 403)
    return new ApiClientError(
      `The server at ${label} does not let this request in${said === undefined ? "" : `: ${said}`} ` +
        "Pass its key with --api-key or RONDO_API_KEY; `rondo key` makes one.",
      { status, code: error?.code ?? null },
    );
  if (said === undefined) return unexpected(label, text, status);
  return new ApiClientError(said, { status, code: error?.code ?? null, param: error?.param ?? null });
}

interface ErrorBody {
  message?: unknown;
  code?: string | null;
  param?: string | null;
}

function errorIn(text: string): ErrorBody | undefined {
  try {
    const { error } = Object(JSON.parse(text)) as { error?: unknown };
    return typeof error === "object" && error !== null ? error : undefined;
  } catch {
    return undefined;
  }
}

/** `fetch` hides the error that matters inside its own. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  if (code === "ECONNREFUSED") return "the connection was refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its host name is not known";
  if (code === "ECONNRESET" || code === "UND_ERR_SOCKET") return "the connection was closed";
  return error.cause === undefined ? error.message.replace(/\.$/, "") : reasonOf(error.cause);
}
