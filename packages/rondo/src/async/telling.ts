// Work that tells what happens, event by event, and goes on when each was taken. Its events are pulled, or passed to a
// function. Not a generator: an event would pass through each of those that the work consists of, for several promises
// each time.

import { defaultGraceMs, leftReason, type RunSetup, type Steps, warnOfCleanup } from "./run.ts";
import { settlesWithin } from "./timer.ts";

/** Tells an event. A promise if the work has to wait until it was taken; throws `Left` when nobody takes events any more. */
export type Tell<T> = (event: T) => Promise<void> | undefined;

/** Ends work whose events nobody takes any more. It is no failure. */
export class Left extends Error {}

type Step<T> = IteratorResult<T, undefined>;

/** The events of work, pulled: it goes on when the next one is asked for. */
export class Pulled<T> implements Steps<T, undefined> {
  readonly #work: (tell: Tell<T>) => Promise<void>;
  #working: Promise<void> | undefined;
  readonly #waiting: ((step: Step<T> | Promise<Step<T>>) => void)[] = [];
  /** The last event is taken when the next one is asked for. */
  #last: { readonly take: () => void; readonly leave: (left: Left) => void } | undefined;
  #isLeft = false;
  #isOver = false;
  /** What nobody has heard of. */
  #failure: { readonly error: unknown } | undefined;

  /** Nothing happens before the first `next()`. */
  constructor(work: (tell: Tell<T>) => Promise<void>) {
    this.#work = work;
  }

  next(): Promise<Step<T>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      const last = this.#last;
      this.#last = undefined;
      if (last) last.take();
      else this.#working ??= this.#begin();
    });
  }

  /** Ends the work where it tells the next event, or waits for the last one to be taken. Throws what then fails. */
  async return(): Promise<Step<T>> {
    this.#isLeft = true;
    this.#last?.leave(new Left());
    this.#last = undefined;
    await this.#working;
    this.#isOver = true;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
    return { done: true, value: undefined };
  }

  async #begin(): Promise<void> {
    try {
      await this.#work((event) => this.#tell(event));
    } catch (error) {
      if (!(error instanceof Left)) this.#failure = { error };
    }
    this.#isOver = true;
    for (const resolve of this.#waiting.splice(0)) {
      const failure = this.#failure;
      this.#failure = undefined;
      resolve(failure ? Promise.reject(failure.error) : { done: true, value: undefined });
    }
  }

  #tell(event: T): Promise<void> | undefined {
    if (this.#isLeft) throw new Left();
    this.#waiting.shift()?.({ done: false, value: event });
    if (this.#waiting.length > 0) return undefined;
    return new Promise<void>((take, leave) => {
      this.#last = { take, leave };
    });
  }
}

/**
 * Does the work, and passes each event to a function, which may have it wait. What that throws ends the work: its
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
      // Later: what it tells first, it tells before there is a promise of it.
      queueMicrotask(() => void giveUpLate(error));
      throw new Left();
    };
    const tell = (event: T): Promise<void> | undefined => {
      if (failure) throw new Left();
      try {
        return take(event)?.catch(leave);
      } catch (error) {
        return leave(error);
      }
    };
    const giveUpLate = async (error: unknown) => {
      if (await settlesWithin(working, graceMs * 2 + defaultGraceMs)) return;
      warnOfCleanup();
      end(() => reject(error));
    };
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort);
    const working = work(tell, controller.signal);
    working.then(
      (result) => end(() => resolve(result)),
      (error: unknown) => end(() => reject(failure ? failure.error : error)),
    );
  });
}
