// A chain of models: if one fails before it has said anything, the next is asked.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import type { ModelProfile } from "./profile.ts";
import type { ModelProvider, ModelRequest } from "./provider.ts";
import { RestartableStream, type StartStream } from "./restartable-stream.ts";

/**
 * Asks the first model; if it fails before its first delta (warnings do not count), the next, and so on. The last
 * error is thrown. A model that has begun to answer is never replaced.
 *
 * It has the name, the endpoint and the profile of the first model. Only `outputMode` must suit all of them: if they
 * differ, it is `prompt`.
 */
export function fallback(...models: readonly [ModelProvider, ...ModelProvider[]]): ModelProvider {
  const [first] = checkModels(models);
  return {
    name: first.name,
    endpoint: first.endpoint,
    get profile() {
      return commonProfileOf(models);
    },
    async learn(options) {
      await Promise.all(models.map(async (model) => model.learn?.(options)));
      return commonProfileOf(models);
    },
    stream: (request) => new RestartableStream(startInOrder(models, request)),
  };
}

function commonProfileOf([first, ...others]: readonly [ModelProvider, ...ModelProvider[]]): ModelProfile {
  const { profile } = first;
  const isCommon = others.every((other) => other.profile.outputMode === profile.outputMode);
  return isCommon ? profile : { ...profile, outputMode: "prompt" };
}

/** Starts the models one after the other. The first at once, so that an invalid request is refused there. */
function startInOrder(
  models: readonly [ModelProvider, ...ModelProvider[]],
  request: ModelRequest,
): StartStream {
  const ask = (model: ModelProvider, failure?: { readonly error: unknown }) => {
    request.onSent?.(request, model, failure);
    return model.stream(request);
  };
  const first = ask(models[0]);
  let index = 0;
  return (failure) => {
    if (!failure) return { stream: first };
    const failed = models[index];
    const next = models[index + 1];
    if (!next || !failed || request.signal?.aborted) return undefined;
    index += 1;
    return { stream: ask(next, failure), warning: wordFallback(failed, next, failure.error) };
  };
}

function wordFallback(failed: ModelProvider, next: ModelProvider, error: unknown): string {
  const why = error instanceof Error ? error.message : String(error);
  return `The model '${failed.name}' failed, so '${next.name}' at ${next.endpoint} is asked: ${why}`;
}

function checkModels<T extends readonly ModelProvider[]>(models: T): T {
  const expected = "models to choose from";
  if (models.length === 0)
    throw new InvalidArgumentError({
      field: "models",
      expected,
      received: models,
      hint: "Pass at least one.",
    });
  for (const [index, model] of models.entries())
    if (typeof (model as Partial<ModelProvider> | null)?.stream !== "function")
      throw new InvalidTypeError({ field: `models[${index}]`, expected: "a model", received: model });
  return models;
}
