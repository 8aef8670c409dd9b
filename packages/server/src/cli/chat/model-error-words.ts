// What a model server's errors mean for someone at the command line, who has flags and no options.

import { ModelAuthError, ModelConnectionError, ModelNotFoundError, UnexpectedAnswerError } from "rondo";

/** The error as a person at the command line can use it. `listModels` is asked only where a model is missing. */
export async function inWords(
  failure: unknown,
  listModels: () => Promise<readonly string[]>,
): Promise<unknown> {
  if (failure instanceof ModelConnectionError)
    return new Error(
      `No model server answers at ${failure.endpoint}. Start it (Ollama: \`ollama serve\`), or pass --model-url URL of one that runs.`,
      { cause: failure },
    );
  if (failure instanceof ModelAuthError)
    return new Error(
      `The model server at ${failure.endpoint} does not accept this key (status ${failure.status}). Pass the right one with --api-key or RONDO_MODEL_API_KEY.`,
      { cause: failure },
    );
  if (failure instanceof UnexpectedAnswerError)
    return new Error(
      `What answers at ${failure.endpoint} is no model server. Check --model-url: it usually ends in /v1.`,
      { cause: failure },
    );
  if (failure instanceof ModelNotFoundError) {
    const names = await listModels().catch(() => []);
    return missingModel(failure.model, names, failure.endpoint);
  }
  return failure;
}

/** That there is no such model, and which there are. */
export function missingModel(name: string, names: readonly string[], where?: string): Error {
  const at = where === undefined ? "" : ` at ${where}`;
  const choice =
    names.length === 0
      ? "No models were found; Ollama gets one with `ollama pull NAME`."
      : `There are: ${names.join(", ")}.`;
  return new Error(`There is no model '${name}'${at}. ${choice}`);
}
