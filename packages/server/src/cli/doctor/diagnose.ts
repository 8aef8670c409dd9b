// From an error to what is the matter and what to do about it, in words for someone who sees a terminal.

import {
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
} from "rondo";
import { isLoopback } from "../../config/exposure.ts";
import type { Finding } from "./report.ts";

export interface Asked {
  readonly url: string;
  /** Whether a key was sent. */
  readonly hasKey: boolean;
  /** How a key is given. */
  readonly keyAdvice: string;
  /** How long was waited. */
  readonly timeoutMs: number;
  /** What is said of a server that is not there. */
  readonly startAdvice: string;
}

/** What a failure means. Errors that nobody expects are told as they are. */
export function diagnose(error: unknown, asked: Asked): Finding {
  const [code, message, advice] = words(error, asked);
  return { status: "failed", code, message, advice };
}

type Words = [code: string, message: string, advice: string];

function words(error: unknown, asked: Asked): Words {
  const seconds = `${asked.timeoutMs / 1000} s`;
  if (error instanceof ModelConnectionError) return connectionWords(error, asked);
  if (error instanceof ModelAuthError)
    return asked.hasKey
      ? ["wrong_key", `it does not take this key (status ${error.status}${said(error)})`, asked.keyAdvice]
      : ["needs_key", `it wants a key (status ${error.status}${said(error)})`, asked.keyAdvice];
  if (error instanceof ModelNotFoundError)
    return [
      "wrong_url",
      `a server answers, but it has no OpenAI-compatible API at this path (status ${error.status}${said(error)})`,
      "Check the URL: it usually ends in /v1.",
    ];
  if (error instanceof UnexpectedAnswerError) return unexpectedWords(error);
  if (isTimeout(error)) return hangWords(asked, seconds);
  if (error instanceof ModelTimeoutError || error instanceof ModelIdleTimeoutError)
    return ["slow", `it took longer than the ${error.timeoutMs} ms that the config allows`, error.message];
  if (error instanceof ModelRateLimitError)
    return ["busy", `it takes no more requests for now (status 429${said(error)})`, "Try again later."];
  if (error instanceof ModelServerError)
    return error.isLoading
      ? ["loading", "it is still loading the model", "Try again in a moment, or wait longer with --timeout."]
      : [
          "server_error",
          `it has failed (status ${error.status}${said(error)})`,
          "Its log says why; often the model does not fit into memory. Then choose a smaller one.",
        ];
  if (error instanceof ModelRequestError)
    return [
      "refused",
      `it refuses the request (status ${error.status}${said(error)})`,
      "Check that the URL is that of an OpenAI-compatible API; it usually ends in /v1.",
    ];
  if (error instanceof EmptyAnswerError)
    return ["empty_answer", "it ended its answer without having said anything", "Its log may say why."];
  return ["error", error instanceof Error ? error.message : String(error), "See what the message says."];
}

function connectionWords({ reason, message }: ModelConnectionError, asked: Asked): Words {
  switch (reason) {
    case "ECONNREFUSED":
      return ["dead_port", "nothing listens there: the connection was refused", asked.startAdvice];
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return ["unknown_host", "the host name is not known", "Check how it is spelt, and the network."];
    case "ETIMEDOUT":
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return ["unreachable", "the host cannot be reached", "Check the address, the network and firewalls."];
    case "ECONNRESET":
    case "EPIPE":
    case "HPE_INVALID_CONSTANT":
    case "EPROTO":
      return [
        "not_http",
        `something listens there, but it does not speak ${asked.url.startsWith("https:") ? "HTTPS" : "HTTP"} (${reason})`,
        "Check the port, and whether the URL has to begin with http: or https:.",
      ];
    default:
      return ["unreachable", message, "Check the address, the network and the certificates."];
  }
}

function unexpectedWords({ received, message }: UnexpectedAnswerError): Words {
  if (/a redirect/.test(message))
    return [
      "redirect",
      `it sends requests on to ${received}, and that is not followed`,
      "Use the address that it names, with /v1.",
    ];
  if (/^\s*</.test(received) || /a web page/.test(message))
    return [
      "web_page",
      "it answers with a web page (HTML): this is a site for people, not a model API",
      "Use the address of the API behind it; it usually has another port, or ends in /v1.",
    ];
  return [
    "not_a_model_api",
    `it answers, but not as an OpenAI-compatible API does: ${received}`,
    "Check the URL: it usually ends in /v1.",
  ];
}

function hangWords({ url }: Asked, seconds: string): Words {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isLoopback(host)
    ? [
        "hangs",
        `it takes the connection but has not answered within ${seconds}: it hangs, or is very busy`,
        "Look into its log and restart it. If it only needs longer, allow that with --timeout SECONDS.",
      ]
    : [
        "hangs",
        `there was no answer within ${seconds}: the server hangs, or the host cannot be reached`,
        "Check the address and the network, then the server's log. --timeout SECONDS waits longer.",
      ];
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}

function said({ said: text }: { said: string }): string {
  return text === "" ? "" : `: ${text}`;
}
