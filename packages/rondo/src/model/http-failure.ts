// From an answer that is no success to the error that says what to do.

import { UnexpectedAnswerError } from "../error/model-errors.ts";
import {
  type HttpFailure,
  ModelAuthError,
  type ModelHttpError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelRequestError,
  ModelServerError,
} from "../error/model-http-errors.ts";
import type { Endpoint } from "./endpoint.ts";
import { type HttpResponse, readText } from "./http/http.ts";
import { parseRetryAfter } from "./retry.ts";
import { excerpt, saidInText } from "./said.ts";

const maxBodyBytes = 16_384;

export interface Asked {
  readonly endpoint: Endpoint;
  /** The model that was asked for, if any was. */
  readonly model: string;
}

/** Reads what the server says and makes an error of it. */
export async function httpFailure(
  response: HttpResponse,
  { endpoint: asked, model }: Asked,
): Promise<ModelHttpError | UnexpectedAnswerError> {
  const { status } = response;
  // The status alone is worth reporting, if the rest breaks off.
  const text = asked.hideSecrets(await readText(response, maxBodyBytes).catch(() => ""));
  const endpoint = asked.label;
  if (status >= 300 && status < 400)
    return new UnexpectedAnswerError(endpoint, {
      expected: "an answer",
      got: `a redirect (status ${status}), which is not followed`,
      received: excerpt(asked.hideSecrets(response.header("location") ?? "")),
    });
  const failure: HttpFailure = { endpoint, status, said: saidInText(text) };
  if (status === 401 || status === 403) return new ModelAuthError(failure);
  if (status === 404 || /model_not_found/.test(text))
    return new ModelNotFoundError(failure, model, { isPath: !speaksOfModel(text, model) });
  const retryAfterMs = parseRetryAfter(response.header("retry-after"));
  if (status === 429) return new ModelRateLimitError(failure, retryAfterMs);
  if (status >= 500) return new ModelServerError(failure, retryAfterMs);
  return new ModelRequestError(failure);
}

/** A server without the model says so; one without the path speaks of the path, or not at all. */
function speaksOfModel(text: string, model: string): boolean {
  return !/^\s*</.test(text) && (/\bmodel/i.test(text) || (model !== "" && text.includes(model)));
}
