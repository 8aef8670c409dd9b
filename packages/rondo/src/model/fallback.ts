// A chain of models: if one fails before it has said anything, the next is asked.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import type { ModelProfile } from "./profile.ts";
import type { ModelDelta, ModelProvider, ModelRequest } from "./provider.ts";

type Step = IteratorResult<ModelDelta, undefined>;

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
    profile: { ...first.profile, outputMode: commonOutputMode(models) },
    stream: (request) => new FallbackStream(models, request),
  };
}

function commonOutputMode([first, ...others]: readonly ModelProvider[]): ModelProfile["outputMode"] {
  const mode = first?.profile.outputMode ?? "prompt";
  return others.every(({ profile }) => profile.outputMode === mode) ? mode : "prompt";
}

class FallbackStream implements AsyncIterableIterator<ModelDelta, undefined, void> {
  readonly #models: readonly ModelProvider[];
  readonly #request: ModelRequest;
  #index = 0;
  #current: AsyncIterator<ModelDelta>;
  #hasBegun = false;
  #isLeft = false;

  constructor(models: readonly [ModelProvider, ...ModelProvider[]], request: ModelRequest) {
    this.#models = models;
    this.#request = request;
    this.#current = models[0].stream(request)[Symbol.asyncIterator]();
  }

  next(): Promise<Step> {
    return this.#hasBegun ? (this.#current.next() as Promise<Step>) : this.#first();
  }

  async return(): Promise<Step> {
    this.#isLeft = true;
    await this.#current.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #first(): Promise<Step> {
    while (true) {
      try {
        const step = (await this.#current.next()) as Step;
        if (step.done || step.value.type !== "warning") this.#hasBegun = true;
        return step;
      } catch (error) {
        const failed = this.#models[this.#index];
        const next = this.#models[this.#index + 1];
        if (!next || !failed || this.#isLeft || this.#request.signal?.aborted) throw error;
        this.#index += 1;
        this.#current = next.stream(this.#request)[Symbol.asyncIterator]();
        return { done: false, value: { type: "warning", message: wordFallback(failed, next, error) } };
      }
    }
  }
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
