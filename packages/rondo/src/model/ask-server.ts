// One request to a model server, with every way to fail turned into an error that says what to do.

import { ModelConnectionError } from "../error/model-errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HttpResponse, HttpSend } from "./http/http.ts";
import { httpFailure } from "./http-failure.ts";

export interface ServerRequest {
  readonly endpoint: Endpoint;
  /** The resource, such as `/models`. */
  readonly path: string;
  /** JSON to post; without it, the resource is fetched. */
  readonly body?: string;
  /** The model that is asked for, for messages. */
  readonly model?: string;
  readonly send: HttpSend;
  readonly signal: AbortSignal;
}

/** Sends a request and resolves with the head of a successful answer. */
export async function askServer({
  endpoint,
  path,
  body,
  model = "",
  send,
  signal,
}: ServerRequest): Promise<HttpResponse> {
  const response = await send({
    method: body === undefined ? "GET" : "POST",
    url: endpoint.url(path),
    headers: {
      accept: body === undefined ? "application/json" : "text/event-stream, application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...endpoint.headers,
    },
    body,
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : new ModelConnectionError(endpoint.label, error);
  });
  if (response.status >= 200 && response.status < 300) return response;
  const failure = await httpFailure(response, { endpoint, model });
  signal.throwIfAborted();
  throw failure;
}
