// Work that tells what happens, event by event, and goes on when each was taken. Its events are pulled, or passed to a
// function. Not a generator: an event would pass through each of those that the work consists of, for several promises
// each time (docs/decisions/0081).

import { cleansUpInTime, defaultGraceMs, leftReason, type RunSetup, type Steps } from "./run.ts";
import { type Resolvers, withResolvers } from "./with-resolvers.ts";

/**
 * Tells an event. A promise if the work has to wait until it was taken: await nothing else, which would cost every event
 * a promise. Throws `RunLeft` when nobody takes events any more.
 */
export type Tell<T> = (event: T) => Promise<void> | undefined;

/** Ends work whose events nobody takes any more. It is not a failure. */
export class RunLeft extends Error {
  constructor() {
    super(leftReason().message);
  }
}

type Step<T> = IteratorResult<T, undefined>;

/** The events of work, pulled: it goes on when the next one is asked for. */
export class PulledEvents<T> implements Steps<T, undefined> {
  readonly #work: (tell: Tell<T>) => Promise<void>;
  #working: Promise<void> | undefined;
  readonly #waiting: Resolvers<Step<T>>[] = [];
  /** The last event is taken when the next one is asked for. */
  #last: { readonly take: () => void; readonly leave: (left: RunLeft) => void } | undefined;
  #isLeft = false;
  #isOver = false;
  /** An error of the work that was not thrown yet. */
  #failure: { readonly error: unknown } | undefined;

  /** Nothing happens before the first `next()`. */
  constructor(work: (tell: Tell<T>) => Promise<void>) {
    this.#work = work;
  }

  next(): Promise<Step<T>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    const step = withResolvers<Step<T>>();
    this.#waiting.push(step);
    const last = this.#last;
    this.#last = undefined;
    if (last) last.take();
    else if (!this.#working) this.#begin();
    return step.promise;
  }

  /** Ends the work where it tells the next event, or waits for the last one to be taken. Throws what then fails. */
  async return(): Promise<Step<T>> {
    this.#isLeft = true;
    this.#last?.leave(new RunLeft());
    this.#last = undefined;
    await this.#working;
    this.#isOver = true;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
    return { done: true, value: undefined };
  }

  #begin(): void {
    // First: the work may ask for an event, or leave, before it waits for anything.
    const { promise, resolve } = withResolvers<void>();
    this.#working = promise;
    resolve(this.#workToEnd());
  }

  async #workToEnd(): Promise<void> {
    try {
      await this.#work((event) => this.#tell(event));
    } catch (error) {
      if (!(error instanceof RunLeft)) this.#failure = { error };
    }
    this.#isOver = true;
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) reject(failure.error);
      else resolve({ done: true, value: undefined });
    }
  }

  #tell(event: T): Promise<void> | undefined {
    if (this.#isLeft) throw new RunLeft();
    // There is one: the work goes on only when the next event is asked for.
    this.#waiting.shift()?.resolve({ done: false, value: event });
    if (this.#waiting.length > 0) return undefined;
    return new Promise<void>((take, leave) => {
      this.#last = { take, leave };
    });
  }
}

/**
 * Does the work, and passes each event to a function, which may have it wait. An error of the function ends the work: its
 * signal is aborted, and its cleanup is waited for as `Run` does.
 */
export function passTo<T, R>(
  take: (event: T) => Promise<void> | undefined,
  work: (tell: Tell<T>, signal: AbortSignal) => Promise<R>,
  { signal, graceMs = defaultGraceMs }: RunSetup,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal?.reason);
    let failure: { readonly error: unknown } | undefined;
    const end = (settle: () => void) => {
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    const leave = (error: unknown): never => {
      failure ??= { error };
      controller.abort(leftReason());
      queueMicrotask(() => void giveUpLate(error)); // not before `working` is set: the first event comes before that
      throw new RunLeft();
    };
    const tell = (event: T): Promise<void> | undefined => {
      if (failure) throw new RunLeft();
      try {
        return take(event)?.catch(leave);
      } catch (error) {
        return leave(error);
      }
    };
    const giveUpLate = async (error: unknown) => {
      if (!(await cleansUpInTime(working, graceMs))) end(() => reject(error));
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort);
    // Also if it throws before it gives a promise.
    const working = new Promise<R>((done) => done(work(tell, controller.signal)));
    working.then(
      (result) => end(() => resolve(result)),
      (error: unknown) => end(() => reject(failure ? failure.error : error)),
    );
  });
}
