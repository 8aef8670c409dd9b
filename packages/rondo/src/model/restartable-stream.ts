// A stream that may be started again, with another request or model, as long as it has said nothing. Not a generator:
// its `return()` would wait behind a pending `next()`.

import type { ModelDelta } from "./provider.ts";

type Step = IteratorResult<ModelDelta, undefined>;

export interface StartedStream {
  readonly stream: AsyncIterable<ModelDelta>;
  /** Said before the stream. Default: nothing. */
  readonly warning?: string | undefined;
}

/**
 * Starts a stream: without a failure for the first time, and with one after a stream that failed before its first
 * delta (warnings do not count). Undefined if there is none to try: the failure is then thrown.
 */
export type StartStream = (failure?: {
  readonly error: unknown;
}) => StartedStream | undefined | Promise<StartedStream | undefined>;

export class RestartableStream implements AsyncIterableIterator<ModelDelta, undefined, void> {
  readonly #start: StartStream;
  #current: AsyncIterator<ModelDelta> | undefined;
  #hasBegun = false;
  #isLeft = false;

  constructor(start: StartStream) {
    this.#start = start;
  }

  next(): Promise<Step> {
    return this.#hasBegun && this.#current ? (this.#current.next() as Promise<Step>) : this.#first();
  }

  async return(): Promise<Step> {
    this.#isLeft = true;
    await this.#current?.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #first(): Promise<Step> {
    if (!this.#current && !this.#isLeft) {
      const warning = await this.#begin();
      if (warning) return warning;
    }
    while (!this.#isLeft) {
      try {
        const step = (await this.#current?.next()) as Step;
        if (step.done || step.value.type !== "warning") this.#hasBegun = true;
        return step;
      } catch (error) {
        if (this.#isLeft) throw error;
        const warning = await this.#begin({ error });
        if (warning) return warning;
      }
    }
    return { done: true, value: undefined };
  }

  /** Starts the next stream, and gives what is said before it. */
  async #begin(failure?: { readonly error: unknown }): Promise<Step | undefined> {
    const started = await this.#start(failure);
    if (!started) throw failure?.error;
    this.#current = started.stream[Symbol.asyncIterator]();
    if (this.#isLeft) await this.#current.return?.();
    const { warning } = started;
    return warning === undefined ? undefined : { done: false, value: { type: "warning", message: warning } };
  }
}
