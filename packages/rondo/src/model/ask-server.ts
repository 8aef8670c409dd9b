// One request to a model server. Every failure becomes an error that says what to do.

import { ContextLengthError } from "../error/context-length-error.ts";
import { ModelConnectionError, type ModelError, UnexpectedAnswerError } from "../error/model-errors.ts";
import {
  type HttpFailure,
  ModelAuthError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "../error/model-http-errors.ts";
import { findContextOverflow } from "./context-overflow.ts";
import type { Endpoint } from "./endpoint.ts";
import { errorMessageInBody, excerpt, isWebPage } from "./error-message.ts";
import { type HttpResponse, type HttpSend, readText } from "./http/http.ts";
import { parseJson } from "./parse-json.ts";
import { parseRetryAfter } from "./retry.ts";

const maxFailureBytes = 16_384;
const headersToGet = { accept: "application/json" };
const headersToPost = {
  accept: "text/event-stream, application/json",
  "content-type": "application/json",
};

export interface ServerRequest {
  readonly endpoint: Endpoint;
  /** The resource, such as `/models`. */
  readonly path: string;
  /** JSON to post, in parts. Default: none, and the resource is fetched. */
  readonly body?: readonly string[];
  /** The model that is asked for, for messages. Default: none. */
  readonly model?: string;
  /** Headers that connect the request to its trace. Default: none. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  readonly send: HttpSend;
  readonly signal: AbortSignal;
}

/** Sends a request and resolves with the head of a successful reply. */
export async function askServer(request: ServerRequest): Promise<HttpResponse> {
  const { endpoint, path, body, traceHeaders, send, signal } = request;
  let response: HttpResponse;
  try {
    response = await send({
      method: body === undefined ? "GET" : "POST",
      url: endpoint.url(path),
      headers: withTrace(
        endpoint.headersWith(body === undefined ? headersToGet : headersToPost),
        traceHeaders,
      ),
      body,
      signal,
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : new ModelConnectionError(endpoint.label, error);
  }
  if (response.status >= 200 && response.status < 300) return response;
  const failure = await readFailure(response, request);
  signal.throwIfAborted();
  throw failure;
}

/** The headers of a trace replace none of the others. */
function withTrace(
  headers: Readonly<Record<string, string>>,
  ofTrace: ServerRequest["traceHeaders"] = {},
): Readonly<Record<string, string>> {
  return Object.keys(ofTrace).length === 0 ? headers : { ...ofTrace, ...headers };
}

async function readFailure(
  response: HttpResponse,
  { endpoint: { label: endpoint, hideSecrets }, model = "" }: ServerRequest,
): Promise<ModelError> {
  const { status } = response;
  // The status alone is worth reporting, if the body breaks off.
  const body = hideSecrets(await readText(response, maxFailureBytes).catch(() => ""));
  if (status >= 300 && status < 400)
    return new UnexpectedAnswerError(endpoint, {
      expected: "an answer",
      got: `a redirect (status ${status}), which is not followed`,
      received: excerpt(hideSecrets(response.header("location") ?? "")),
    });
  const failure: HttpFailure = { endpoint, status, said: errorMessageInBody(body) };
  if (status === 401 || status === 403) return new ModelAuthError(failure);
  if (status === 404 || /model_not_found/.test(body))
    return new ModelNotFoundError(failure, model, { isPath: !mentionsModel(body, model) });
  const retryAfterMs = parseRetryAfter(response.header("retry-after"));
  const overflow = status === 429 ? undefined : findContextOverflow(parseJson(body) ?? body);
  if (overflow) return new ContextLengthError(endpoint, { ...overflow, status, said: failure.said });
  if (status === 429) return new ModelRateLimitError(failure, retryAfterMs);
  if (status >= 500) return new ModelServerError(failure, retryAfterMs);
  return new ModelRequestError(failure);
}

/** A server without the model mentions it; one without the path mentions the path, or nothing. */
function mentionsModel(body: string, model: string): boolean {
  return !isWebPage(body) && (/\bmodel/i.test(body) || (model !== "" && body.includes(model)));
}
