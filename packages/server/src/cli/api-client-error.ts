// What goes wrong between a command and a Rondo server, in words and with the next step.

export interface ApiClientErrorOptions extends ErrorOptions {
  /** The HTTP status of the reply, if there was one. */
  status?: number;
  /** Whether no reply came, or only a part of it. Default: false. */
  isConnectionFault?: boolean;
}

/** Thrown by an `ApiClient`. */
export class ApiClientError extends Error {
  override readonly name = "ApiClientError";
  readonly status: number | undefined;
  /** Whether no reply came, or only a part of it: the same may well work a little later. */
  readonly isConnectionFault: boolean;

  constructor(message: string, { status, isConnectionFault = false, ...others }: ApiClientErrorOptions = {}) {
    super(message, others);
    this.status = status;
    this.isConnectionFault = isConnectionFault;
  }
}

export function unreachable(label: string, cause: unknown): ApiClientError {
  return new ApiClientError(
    `No server answers at ${label}: ${reasonOf(cause)}. Start one with \`rondo serve\`, or pass the URL of one that runs.`,
    { cause, isConnectionFault: true },
  );
}

export function brokenStream(label: string, cause?: unknown): ApiClientError {
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

export function notLetIn(label: string, said: string, status: number): ApiClientError {
  return new ApiClientError(
    `The server at ${label} does not let this request in${said === "" ? "" : `: ${said}`} ` +
      "Pass its key with --api-key or RONDO_API_KEY; `rondo key` makes one.",
    { status },
  );
}

/** The error of a reply that is not a success. */
export async function refusal(label: string, reply: Response): Promise<ApiClientError> {
  const { status } = reply;
  const text = await reply.text().catch(() => "");
  const said = messageIn(text);
  if (status === 401 || status === 403) return notLetIn(label, said ?? "", status);
  return said === undefined ? unexpected(label, text, status) : new ApiClientError(said, { status });
}

function messageIn(text: string): string | undefined {
  try {
    const message: unknown = JSON.parse(text)?.error?.message;
    return typeof message === "string" ? message : undefined;
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
