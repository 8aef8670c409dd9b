// From an error to its cause, in words for someone at a terminal.

import {
  ContextLengthError,
  EmptyAnswerError,
  ModelAuthError,
  ModelConnectionError,
  ModelIdleTimeoutError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
  ModelTimeoutError,
  UnexpectedAnswerError,
} from "rondo/errors";
import { isLoopback } from "../config/exposure.ts";
import { type Finding, failed } from "./finding.ts";

export interface AskedServer {
  readonly url: string;
  readonly hasKey: boolean;
  readonly timeoutMs: number;
  /** How to give a key. */
  readonly keyAdvice: string;
  /** What to do if nothing listens there. */
  readonly startAdvice: string;
}

/** What a failure means. Other errors are reported with their own message. */
export function diagnose(error: unknown, asked: AskedServer): Finding {
  const status = statusOf(error);
  if (error instanceof ModelConnectionError) return connectionFinding(error, asked);
  if (error instanceof ModelAuthError)
    return asked.hasKey
      ? failed("wrong_key", `it rejects this key (${status})`, asked.keyAdvice)
      : failed("needs_key", `it requires a key (${status})`, asked.keyAdvice);
  if (error instanceof ModelNotFoundError)
    return failed("wrong_url", `a server answers, but has no OpenAI-compatible API at this path (${status})`);
  if (error instanceof UnexpectedAnswerError) return unexpectedFinding(error);
  if (error instanceof DOMException && error.name === "TimeoutError") return hangFinding(asked);
  if (error instanceof ModelTimeoutError || error instanceof ModelIdleTimeoutError)
    return failed("slow", `it took longer than the ${error.timeoutMs} ms of the config`, error.message);
  if (error instanceof ModelRateLimitError)
    return failed("busy", `it accepts no more requests for now (${status})`);
  if (error instanceof ModelServerError)
    return error.isLoading
      ? failed("loading", "it is still loading the model")
      : failed("server_error", `it failed (${status})`);
  if (error instanceof ContextLengthError)
    return failed("small_window", `its context window is too small for this request (${error.said})`);
  if (error instanceof ModelRequestError) return failed("refused", `it refuses the request (${status})`);
  if (error instanceof EmptyAnswerError)
    return failed("empty_answer", "it ended its answer without any content", "Its log may say why.");
  return failed("error", error instanceof Error ? error.message : String(error));
}

function connectionFinding(
  { reason = "", message }: ModelConnectionError,
  { url, startAdvice }: AskedServer,
): Finding {
  if (reason === "ECONNREFUSED")
    return failed("dead_port", "nothing listens there: the connection was refused", startAdvice);
  const code = connectionCodes[reason] ?? "unreachable";
  if (code === "unknown_host") return failed(code, "the host name is unknown");
  if (code === "unreachable")
    return failed(code, reason in connectionCodes ? "the host cannot be reached" : message);
  const protocol = url.startsWith("https:") ? "HTTPS" : "HTTP";
  return failed(code, `something listens there, but it does not speak ${protocol} (${reason})`);
}

const connectionCodes: Readonly<Record<string, string>> = {
  ENOTFOUND: "unknown_host",
  EAI_AGAIN: "unknown_host",
  ETIMEDOUT: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ECONNRESET: "not_http",
  EPIPE: "not_http",
  ERR_INVALID_REPLY: "not_http",
  EPROTO: "not_http",
};

function unexpectedFinding({ received, message }: UnexpectedAnswerError): Finding {
  if (/a redirect/.test(message))
    return failed("redirect", `it redirects requests to ${received}, which is not followed`);
  if (/^\s*</.test(received) || /a web page/.test(message))
    return failed("web_page", "it answers with a web page (HTML): a site for people, not a model API");
  return failed("not_a_model_api", `it answers, but not as an OpenAI-compatible API: ${received}`);
}

function hangFinding({ url, timeoutMs }: AskedServer): Finding {
  const seconds = `${timeoutMs / 1000} s`;
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isLoopback(host)
    ? failed(
        "hangs",
        `it accepts the connection but did not answer within ${seconds}: it hangs, or is very busy`,
        "Check its log and restart it. If it only needs longer, allow that with --timeout SECONDS.",
      )
    : failed(
        "hangs",
        `there was no answer within ${seconds}: the server hangs, or the host cannot be reached`,
        "Check the address and the network, then the server's log. --timeout SECONDS waits longer.",
      );
}

/** The status of an HTTP failure with the server's own words. */
function statusOf(error: unknown): string {
  const { status = 429, said = "" } = Object(error) as { status?: number; said?: string };
  return `status ${status}${said === "" ? "" : `: ${said}`}`;
}
