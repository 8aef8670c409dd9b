// Error statuses of a model server: one error for each kind, with what to do about it.

import { ModelError } from "./model-errors.ts";
import { brandErrors } from "./rondo-error.ts";

export interface HttpFailure {
  readonly endpoint: string;
  readonly status: number;
  /** What the server said, shortened; empty if it said nothing. */
  readonly said: string;
}

/** The server replied with an error status. */
export abstract class ModelHttpError extends ModelError {
  readonly status: number;
  /** What the server said, shortened; empty if it said nothing. */
  readonly said: string;

  constructor({ endpoint, status, said }: HttpFailure, what: string, nextStep: string) {
    super(endpoint, `${what} (status ${status}${said === "" ? "" : `: ${said}`}). ${nextStep}`);
    this.status = status;
    this.said = said;
  }
}

/** The key is missing, wrong, or lacks rights: 401 and 403. */
export class ModelAuthError extends ModelHttpError {
  readonly code = "model_auth";

  constructor(failure: HttpFailure) {
    super(
      failure,
      `The model server at ${failure.endpoint} does not let this request in`,
      "Pass the apiKey that the server was started with, or one that may use this model.",
    );
  }
}

/** The server does not have the model, or there is nothing at this path: 404. */
export class ModelNotFoundError extends ModelHttpError {
  readonly code = "model_not_found";
  readonly model: string;

  constructor(failure: HttpFailure, model: string, { isPath }: { isPath: boolean }) {
    super(
      failure,
      isPath
        ? `There is no chat-completions API at ${failure.endpoint}`
        : `The model server at ${failure.endpoint} has no model '${model}'`,
      isPath
        ? "Check baseURL: it usually ends in /v1."
        : `\`await listModels({ baseURL: "${failure.endpoint}" })\` tells which it has; ` +
            `Ollama gets a model with \`ollama pull ${model}\`.`,
    );
    this.model = model;
  }
}

/** The server is overloaded, or the key has reached its limit: 429. */
export class ModelRateLimitError extends ModelHttpError {
  readonly code = "model_rate_limit";
  /** How long the server asks to wait, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: HttpFailure, retryAfterMs: number | undefined) {
    super(
      failure,
      `The model server at ${failure.endpoint} takes no more requests for now`,
      `${retryAfterMs === undefined ? "Ask again later" : `Ask again in ${retryAfterMs} ms`}, ` +
        "lower maxConcurrency, or allow more retry.attempts.",
    );
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server failed: 5xx. */
export class ModelServerError extends ModelHttpError {
  readonly code = "model_server";
  /** Whether it says that it is still loading the model. */
  readonly isLoading: boolean;
  /** How long the server asks to wait, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: HttpFailure, retryAfterMs?: number) {
    const isLoading = failure.status === 503 && /load/i.test(failure.said);
    super(
      failure,
      isLoading
        ? `The model server at ${failure.endpoint} is still loading the model`
        : `The model server at ${failure.endpoint} has failed`,
      isLoading
        ? "Ask again when it has, or wait longer with retry.loadingMs."
        : "Its log says why; often the model does not fit into memory. Then choose a smaller model or context.",
    );
    this.isLoading = isLoading;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The server rejects the request: 400, 422 and other 4xx. */
export class ModelRequestError extends ModelHttpError {
  readonly code = "model_request";

  constructor(failure: HttpFailure) {
    super(
      failure,
      `The model server at ${failure.endpoint} refuses the request`,
      "If it does not know a field or a setting, leave that out.",
    );
  }
}

brandErrors({
  ModelHttpError,
  ModelAuthError,
  ModelNotFoundError,
  ModelRateLimitError,
  ModelServerError,
  ModelRequestError,
});
