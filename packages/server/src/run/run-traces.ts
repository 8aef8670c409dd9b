// The traces of the runs that work in this process.

import type { Tracer } from "rondo";
import { RunTracer, type WrittenTrace } from "../engine/run-tracer.ts";
import { seesAddresses } from "../protocol/addresses.ts";
import type { InputItem } from "../protocol/items.ts";
import type { TraceLevel } from "../protocol/trace-object.ts";
import type { TracePiece } from "../store/store.ts";
import type { RunObserver } from "./observer.ts";

export interface RunTracesOptions {
  readonly level: TraceLevel;
  readonly observer: Pick<RunObserver, "traceEvent">;
  /** The name of this process. */
  readonly worker: string;
}

export interface BegunRun {
  readonly id: string;
  readonly owner: string;
  readonly createdAtMs: number;
  /** Whether it waited in the queue. Default: false. */
  readonly background?: boolean;
  /** Whether its trace can be kept. */
  readonly isStored: boolean;
  /** From 1. */
  readonly attempt: number;
  /** What earlier processes have written. Default: nothing. */
  readonly written?: WrittenTrace;
}

/** For the loop: both hear what happens, and the second, if there is one, makes headers and spans. */
export function tracedBy(own: RunTracer, other: Tracer | undefined): Tracer {
  if (!other) return own;
  return {
    wantsChunks: own.wantsChunks || other.wantsChunks === true,
    record(event) {
      own.record(event);
      other.record(event);
    },
    headers: (of) => other.headers?.(of) ?? {},
    within: (turnId, work) => (other.within ? other.within(turnId, work) : work()),
    withinAnswer: (answer, send) => (other.withinAnswer ? other.withinAnswer(answer, send) : send()),
  };
}

/** Notes what a person decided about calls of earlier responses. */
export function noteDecisions(tracer: RunTracer, input: readonly InputItem[]): void {
  for (const item of input) {
    if (item.type !== "mcp_approval_response") continue;
    const { approval_request_id: callId = "", approve = false } = item as {
      approval_request_id?: string;
      approve?: boolean;
    };
    tracer.note({ type: "approval.decided", callId, approved: approve });
  }
}

export class RunTraces {
  readonly #options: RunTracesOptions;
  // Not a map: V8 keeps the tables that a map has outgrown, with their entries, until the next full garbage collection.
  readonly #runs: { readonly id: string; readonly tracer: RunTracer }[] = [];

  constructor(options: RunTracesOptions) {
    this.#options = options;
  }

  /** What is recorded of stored runs. */
  get level(): TraceLevel {
    return this.#options.level;
  }

  /** The tracer of a run that begins here, or is resumed. */
  begin({ id, owner, createdAtMs, background, isStored, attempt, written }: BegunRun): RunTracer {
    const { observer, worker } = this.#options;
    const level = isStored ? this.level : "off";
    const tracer = new RunTracer({
      level,
      createdAtMs,
      written,
      hidesAddresses: !seesAddresses(owner),
      onEvent: (event) => observer.traceEvent(event, id, owner),
    });
    if (level !== "off") this.#runs.push({ id, tracer });
    // A worker also ends foreground runs whose process was lost: these never waited.
    if (background && written?.next === 0) tracer.note({ type: "run.queued" }, createdAtMs);
    tracer.note({ type: "run.claimed", worker, attempt, level });
    return tracer;
  }

  /** A run does not work here any more. */
  end(tracer: RunTracer): void {
    const index = this.#runs.findIndex((run) => run.tracer === tracer);
    if (index < 0) return;
    // The last one takes its place.
    const last = this.#runs.pop();
    if (last && last.tracer !== tracer) this.#runs[index] = last;
  }

  /** What the store may not have yet of a run that works here. */
  unwritten(id: string): readonly TracePiece[] {
    return this.#runs.findLast((run) => run.id === id)?.tracer.unwritten ?? [];
  }
}
