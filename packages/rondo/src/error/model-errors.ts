// Errors of talking to a model server. Each names the endpoint and the next step.

import { describe } from "./describe.ts";
import { TimeoutError } from "./execution-errors.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** The base of errors caused by a model server or the connection to it, except for timeouts. */
export abstract class ModelError extends RondoError {
  /** The model server, as a URL. */
  readonly endpoint: string;

  constructor(endpoint: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.endpoint = endpoint;
  }
}

/** No server answers: refused, unknown host, or closed before the first byte of an answer. */
export class ModelConnectionError extends ModelError {
  readonly code = "model_unreachable";
  /** The code of the cause, such as `ECONNREFUSED`, if it has one. */
  readonly reason: string | undefined;

  constructor(endpoint: string, cause: unknown) {
    const reason = reasonOf(cause);
    super(
      endpoint,
      `No model server answers at ${endpoint}: ${wordReason(reason, cause)}. ` +
        "Start the server (Ollama: `ollama serve`), or pass the baseURL of one that runs.",
      { cause },
    );
    this.reason = reason;
  }
}

/** The reply is not from a chat-completions API: a web page, a redirect, other JSON. */
export class UnexpectedAnswerError extends ModelError {
  readonly code = "model_unexpected_answer";
  /** The start of the reply. */
  readonly received: string;

  constructor(
    endpoint: string,
    { expected, got, received }: Record<"expected" | "got" | "received", string>,
  ) {
    super(
      endpoint,
      `Expected ${expected} from ${endpoint}, got ${got}${received === "" ? "" : `: ${received}`}. ` +
        "Check baseURL: it must be a model server's OpenAI-compatible API, and usually ends in /v1.",
    );
    this.received = received;
  }
}

/** The stream ended without a single chunk. */
export class EmptyAnswerError extends ModelError {
  readonly code = "model_empty_answer";
  /** The start of what was received instead, if anything. */
  readonly received: string;

  constructor(endpoint: string, received: string) {
    super(
      endpoint,
      `The model server at ${endpoint} ended its answer without having said anything` +
        `${received === "" ? "" : ` that could be read: ${received}`}. ` +
        "Its log may say why; asking again is safe.",
    );
    this.received = received;
  }
}

/** The stream broke off. What came before was passed on, and its text is kept here. */
export class BrokenStreamError extends ModelError {
  readonly code = "model_stream_broken";
  readonly partialText: string;

  constructor(endpoint: string, partialText: string, cause: unknown) {
    super(
      endpoint,
      `The stream from ${endpoint} broke off after ${partialText.length} characters of text: ` +
        `${wordReason(reasonOf(cause), cause)}. The server may have crashed or been stopped; ask again.`,
      { cause },
    );
    this.partialText = partialText;
  }
}

/** The server reported an error in the middle of its answer. The partial text is kept. */
export class ReportedStreamError extends ModelError {
  readonly code = "model_stream_error";
  readonly partialText: string;
  /** What the server said. */
  readonly said: string;

  constructor(endpoint: string, partialText: string, said: string) {
    super(
      endpoint,
      `The model server at ${endpoint} reported an error while it answered: ${said}. ` +
        "Its log may say more; otherwise ask again.",
    );
    this.partialText = partialText;
    this.said = said;
  }
}

/** The answer exceeded a limit, and the connection was closed. The partial text is kept; none of its calls is run. */
export class AnswerLimitError extends ModelError {
  readonly code = "model_answer_limit";
  /** The option that set the limit. */
  readonly limit: "maxAnswerBytes" | "maxCallsPerAnswer";
  readonly max: number;
  readonly partialText: string;

  constructor(
    endpoint: string,
    { limit, max, partialText }: Pick<AnswerLimitError, "limit" | "max" | "partialText">,
  ) {
    const what = limit === "maxAnswerBytes" ? `${max} bytes` : `${max} calls`;
    super(
      endpoint,
      `The answer from ${endpoint} has more than ${what} and was closed; none of its calls is run. ` +
        `The model may be repeating itself: ask again, or set a smaller maxTokens. If the answer is meant, raise ${limit}.`,
    );
    this.limit = limit;
    this.max = max;
    this.partialText = partialText;
  }
}

/** A request took longer than `timeoutMs`. The partial text is kept. */
export class ModelTimeoutError extends TimeoutError {
  readonly code = "model_timeout";
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly partialText: string;

  constructor(endpoint: string, timeoutMs: number, partialText: string) {
    super(
      `The request to ${endpoint} took more than its ${timeoutMs} ms and was closed. ` +
        "Give it a larger timeoutMs, or none; a smaller maxTokens makes answers shorter.",
    );
    this.endpoint = endpoint;
    this.timeoutMs = timeoutMs;
    this.partialText = partialText;
  }
}

/** The server was silent for longer than `idleTimeoutMs`. The partial text is kept. */
export class ModelIdleTimeoutError extends TimeoutError {
  readonly code = "model_idle_timeout";
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly partialText: string;

  constructor(endpoint: string, timeoutMs: number, partialText: string) {
    super(
      `The model server at ${endpoint} was silent for more than ${timeoutMs} ms, and the request was closed. ` +
        "A slow model needs a larger idleTimeoutMs (Infinity for no limit); a stuck one, a restart.",
    );
    this.endpoint = endpoint;
    this.timeoutMs = timeoutMs;
    this.partialText = partialText;
  }
}

/** `fetch` wraps the real error in its own. */
function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : error;
}

function reasonOf(error: unknown): string | undefined {
  const code = (innermost(error) as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

function wordReason(reason: string | undefined, cause: unknown): string {
  switch (reason) {
    case "ECONNREFUSED":
    case "ConnectionRefused":
      return "the connection was refused";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "its host name is not known";
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return "the connection was closed";
    default: {
      const inner = innermost(cause);
      const message = inner instanceof Error ? inner.message.replace(/\.$/, "") : describe(inner);
      return message === "" ? (reason ?? "no reason was given") : message;
    }
  }
}

brandErrors({
  ModelError,
  ModelConnectionError,
  UnexpectedAnswerError,
  EmptyAnswerError,
  BrokenStreamError,
  ReportedStreamError,
  AnswerLimitError,
  ModelTimeoutError,
  ModelIdleTimeoutError,
});
