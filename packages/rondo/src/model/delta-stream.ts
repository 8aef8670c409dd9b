// The iterable behind a model's stream: the network pushes deltas, the consumer pulls them, and leaving at any moment
// stops the work. Not a generator: its `return()` would wait behind a pending `next()`, and each delta would cost
// several promises. Text that arrives faster than it is consumed is merged.

import type { ModelDelta } from "./provider.ts";

/** With so many unread deltas, reading from the server is paused. */
const maxUnread = 512;

/** What the work behind a stream receives. */
export interface DeltaSink {
  /** Aborted when the consumer leaves, with the request's signal, and by `stop()`. */
  readonly signal: AbortSignal;
  readonly push: (delta: ModelDelta) => void;
  /** Whether the consumer is far behind. */
  readonly isFull: () => boolean;
  /** Called when the consumer has caught up. */
  onDrained: () => void;
  /** Ends the work with an error, as a time limit does. Deltas that were pushed before are still delivered. */
  readonly stop: (reason: Error) => void;
}

type Step = IteratorResult<ModelDelta, undefined>;

export class DeltaStream implements AsyncIterableIterator<ModelDelta, undefined, void>, AsyncDisposable {
  readonly #work: (sink: DeltaSink) => Promise<void>;
  readonly #outside: AbortSignal | undefined;
  readonly #controller = new AbortController();
  readonly #sink: DeltaSink;
  readonly #waiting: ((step: Step | Promise<Step>) => void)[] = [];
  #working: Promise<void> | undefined;
  #deltas: ModelDelta[] = [];
  #taken = 0;
  /** How many pushes the unread deltas were merged from. */
  #pushed = 0;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  /** Nothing happens before the first `next()`. */
  constructor(work: (sink: DeltaSink) => Promise<void>, signal?: AbortSignal) {
    this.#work = work;
    this.#outside = signal;
    this.#sink = {
      signal: this.#controller.signal,
      push: (delta) => this.#push(delta),
      isFull: () => this.#pushed >= maxUnread,
      onDrained: () => {},
      stop: (reason) => this.#controller.abort(reason),
    };
  }

  next(): Promise<Step> {
    if (!this.#isOver) this.#working ??= this.#begin();
    if (this.#taken < this.#deltas.length) return Promise.resolve({ done: false, value: this.#take() });
    if (!this.#isOver) return new Promise((resolve) => void this.#waiting.push(resolve));
    // An error is thrown once; after that the stream is done.
    const failure = this.#failure;
    this.#failure = undefined;
    return failure ? Promise.reject(failure.error) : Promise.resolve({ done: true, value: undefined });
  }

  /** Leaves the stream: closes the connection in the same tick, and waits until everything is released. */
  async return(): Promise<Step> {
    this.#drop(undefined);
    this.#controller.abort(new DOMException("The stream was left before its end.", "AbortError"));
    await this.#working;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Never rejects: `next()` reports how the work ended. */
  async #begin(): Promise<void> {
    const outside = this.#outside;
    try {
      outside?.throwIfAborted();
      outside?.addEventListener("abort", this.#onOutsideAbort);
      await this.#work(this.#sink);
      this.#end(undefined);
    } catch (error) {
      this.#end({ error });
    } finally {
      outside?.removeEventListener("abort", this.#onOutsideAbort);
    }
  }

  readonly #onOutsideAbort = (): void => {
    const reason: unknown = this.#outside?.reason;
    this.#drop({ error: reason });
    this.#controller.abort(reason);
  };

  #push(delta: ModelDelta): void {
    if (this.#isOver) return;
    const resolve = this.#waiting.shift();
    if (resolve) resolve({ done: false, value: delta });
    else this.#wait(delta);
  }

  #wait(delta: ModelDelta): void {
    this.#pushed += 1;
    const last = this.#deltas.at(-1);
    // A step of the consumer costs as much as reading several deltas.
    if (last && isText(last) && last.type === delta.type)
      this.#deltas[this.#deltas.length - 1] = { type: last.type, text: last.text + delta.text };
    else this.#deltas.push(delta);
  }

  #take(): ModelDelta {
    const delta = this.#deltas[this.#taken] as ModelDelta;
    this.#taken += 1;
    if (this.#taken === this.#deltas.length) {
      this.#deltas = [];
      this.#taken = 0;
      this.#pushed = 0;
      if (!this.#isOver) this.#sink.onDrained();
    }
    return delta;
  }

  /** Drops the unread deltas, because the consumer left. */
  #drop(failure: { error: unknown } | undefined): void {
    this.#deltas = [];
    this.#taken = 0;
    this.#pushed = 0;
    this.#failure = undefined;
    this.#end(failure);
  }

  #end(failure: { error: unknown } | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    for (const resolve of this.#waiting.splice(0)) resolve(this.next());
  }
}

type Text = Extract<ModelDelta, { readonly text: string; readonly type: "text.delta" | "thinking.delta" }>;

function isText(delta: ModelDelta): delta is Text {
  return delta.type === "text.delta" || delta.type === "thinking.delta";
}
