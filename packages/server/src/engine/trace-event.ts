// What the server itself adds to the vocabulary of traces.

import type { TraceError, TraceEvent } from "rondo";

export type ServerTraceEvent = {
  readonly atMs: number;
} /** The request was accepted, and waits for a worker. */ & (
  | { readonly type: "run.queued" }
  /** A process begins the run, or resumes it. */
  | {
      readonly type: "run.claimed";
      readonly worker: string;
      readonly attempt: number;
      readonly level: string;
    }
  /** A person has to allow a call. */
  | { readonly type: "approval.asked"; readonly callId: string; readonly name: string }
  | { readonly type: "approval.decided"; readonly callId: string; readonly approved: boolean }
  /** The model server is away, and the run waits for it. */
  | { readonly type: "model.away"; readonly error: TraceError }
  | { readonly type: "model.back" }
  /** The run waited so long for the store. */
  | { readonly type: "store.committed"; readonly ms: number; readonly isDurable: boolean }
  /** The trace became too long: this is its last event. */
  | { readonly type: "trace.cut" }
);

/** Everything that a trace on the server has. */
export type RunTraceEvent = TraceEvent | ServerTraceEvent;

type WithoutTime<E> = E extends unknown ? Omit<E, "atMs"> : never;

/** An event of the server that gets its time when it is noted. */
export type NewTraceEvent = WithoutTime<ServerTraceEvent>;
