// What the library records by: the user's tracer, made safe, with a clock and a count of answers for one run.

import { requireType } from "../error/check.ts";
import { warn } from "../error/logger.ts";
import { traceClock } from "./clock.ts";
import { checkTraceHeaders, type TraceHeaders } from "./headers.ts";
import type { TraceEvent, Tracer } from "./trace.ts";
import { toTraceError } from "./trace-error.ts";

/** What the option `onTrace` takes: a tracer, or just its `record()`. */
export type OnTrace = Tracer | ((event: TraceEvent) => void);

type WithoutTime<E> = E extends unknown ? Omit<E, "atMs"> : never;
/** An event that gets its time when it is recorded. */
export type NewEvent = WithoutTime<TraceEvent>;
type Stamped = TraceEvent & { atMs: number; answer: number };

/** Throws unless the value can be an option `onTrace`. */
export function checkOnTrace(field: string, value: unknown): OnTrace | undefined {
  const isTracer =
    typeof value === "function" ||
    typeof (value as Partial<Tracer> | null | undefined)?.record === "function";
  requireType(
    value === undefined || isTracer,
    field,
    "a function, or a tracer with a method record()",
    value,
  );
  return value as OnTrace | undefined;
}

const noHeaders: TraceHeaders = {};

/** Those that were reported: a tracer with a fault has it in every event. */
const reported = new WeakSet<object>();

export class RunTrace implements Tracer {
  readonly #given: OnTrace;
  readonly #tracer: Tracer;
  readonly #now: () => number = traceClock();
  #lastMs = 0;
  #answers: number;
  #isOver = false;

  constructor(onTrace: OnTrace, answers = 0) {
    this.#given = onTrace;
    this.#tracer = typeof onTrace === "function" ? { record: onTrace } : this.#ofRun(onTrace);
    this.#answers = answers;
  }

  /** The trace that is already under way, or a new one. */
  static of(onTrace: OnTrace): RunTrace {
    return onTrace instanceof RunTrace ? onTrace : new RunTrace(onTrace);
  }

  get wantsChunks(): boolean {
    return this.#safely(() => this.#tracer.wantsChunks) === true;
  }

  /** The number of the latest answer; 0 before the first. */
  get answer(): number {
    return Math.max(0, this.#answers - 1);
  }

  /** The number of the next answer. */
  nextAnswer(): number {
    this.#answers += 1;
    return this.#answers - 1;
  }

  /** Records a new event: it gets its time, and the number of its answer, if that is given. */
  emit(event: NewEvent, answer?: number): void {
    // Not a copy, which takes longer than all the rest.
    const stamped = event as Stamped;
    stamped.atMs = this.#now();
    if (answer !== undefined) stamped.answer = answer;
    this.record(stamped);
  }

  record(event: TraceEvent): void {
    // Others may take their times from another clock.
    const isLate = event.atMs < this.#lastMs;
    if (!isLate) this.#lastMs = event.atMs;
    this.#safely(() => this.#tracer.record(isLate ? { ...event, atMs: this.#lastMs } : event));
  }

  headers(of: Parameters<NonNullable<Tracer["headers"]>>[0]): TraceHeaders {
    if (!this.#tracer.headers) return noHeaders;
    return this.#safely(() => checkTraceHeaders(this.#tracer.headers?.(of) ?? {})) ?? noHeaders;
  }

  within<T>(turnId: string, work: () => T): T {
    const tracer = this.#tracer;
    return tracer.within ? this.#inside((once) => tracer.within?.(turnId, once), work) : work();
  }

  withinAnswer<T>(answer: number, send: () => T): T {
    const tracer = this.#tracer;
    return tracer.withinAnswer ? this.#inside((once) => tracer.withinAnswer?.(answer, once), send) : send();
  }

  start(name: string | undefined): void {
    this.emit({ type: "run.started", ...(name !== undefined && { name }) });
  }

  finish(reason: string, usage?: Extract<TraceEvent, { type: "run.finished" }>["usage"]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit({ type: "run.finished", reason, ...(usage && { usage }) });
  }

  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit({ type: "run.failed", error: toTraceError(error) });
  }

  /** Whatever the tracer does, the work is done once, and its outcome is the outcome. */
  #inside<T>(wrap: (once: () => void) => void, work: () => T): T {
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    const workOnce = () => {
      try {
        outcome ??= { value: work() };
      } catch (error) {
        outcome = { error };
      }
    };
    this.#safely(() => wrap(workOnce));
    if (!outcome) workOnce();
    const done = outcome as { readonly value: T } | { readonly error: unknown };
    if ("error" in done) throw done.error;
    return done.value;
  }

  #ofRun(tracer: Tracer): Tracer {
    const own = tracer.forRun && this.#safely(() => tracer.forRun?.());
    return typeof own?.record === "function" ? own : tracer;
  }

  #safely<T>(act: () => T): T | undefined {
    try {
      const outcome: unknown = act();
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#report(error));
      return outcome as T;
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  #report(error: unknown): void {
    if (reported.has(this.#given)) return;
    reported.add(this.#given);
    warn("A tracer (onTrace) failed. The run goes on; this is reported once.", error);
  }
}
