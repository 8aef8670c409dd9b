// Rewords errors of models and servers for the command line: flags instead of options.

import {
  BrokenStreamError,
  ModelAuthError,
  ModelConnectionError,
  ModelHttpError,
  ModelNotFoundError,
  ReportedStreamError,
  UnexpectedAnswerError,
} from "rondo/errors";
import { brokenStream, notLetIn, unexpected, unreachable } from "../api-client-error.ts";

/** Rewords an error of a model server. `listModels` is called only if the model is missing. */
export async function explainModelError(
  failure: unknown,
  listModels: () => Promise<readonly string[]> = async () => [],
): Promise<unknown> {
  const say = (message: string) => new Error(message, { cause: failure });
  if (failure instanceof ModelConnectionError)
    return say(
      `No model server answers at ${failure.endpoint}. Start it (Ollama: \`ollama serve\`), or pass --model-url URL of one that runs.`,
    );
  if (failure instanceof ModelAuthError)
    return say(
      `The model server at ${failure.endpoint} does not accept this key (status ${failure.status}). Pass the right one with --api-key or RONDO_MODEL_API_KEY.`,
    );
  const isNotAnApi =
    failure instanceof UnexpectedAnswerError ||
    (failure instanceof ModelNotFoundError && failure.model === "");
  if (isNotAnApi)
    return say(
      `What answers at ${failure.endpoint} is no model server. Check --model-url: it usually ends in /v1.`,
    );
  if (failure instanceof ModelNotFoundError)
    return missingModel(failure.model, await listModels().catch(() => []), failure.endpoint);
  return failure;
}

/** Rewords an error of a Rondo server: its own message, if it sent one. */
export function explainServerError(failure: unknown): unknown {
  if (failure instanceof ModelConnectionError) return unreachable(failure.endpoint, failure.cause);
  if (failure instanceof BrokenStreamError) return brokenStream(failure.endpoint, failure.cause);
  if (failure instanceof UnexpectedAnswerError) return unexpected(failure.endpoint, failure.received);
  if (failure instanceof ModelAuthError)
    return notLetIn(failure.endpoint, `${failure.said}.`, failure.status);
  if (failure instanceof ReportedStreamError || (failure instanceof ModelHttpError && failure.said !== ""))
    return new Error(`${failure.said}.`, { cause: failure });
  return failure;
}

/** The error for an unknown model; lists the known ones. */
export function missingModel(name: string, names: readonly string[], where?: string): Error {
  const at = where === undefined ? "" : ` at ${where}`;
  const choice =
    names.length === 0
      ? "No models were found; Ollama gets one with `ollama pull NAME`."
      : `There are: ${names.join(", ")}.`;
  return new Error(`There is no model '${name}'${at}. ${choice}`);
}
