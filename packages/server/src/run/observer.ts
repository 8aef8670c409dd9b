// Receives what happens in runs: for logs and metrics.

import type { LoopEvent } from "rondo/loop";
import type { RunTraceEvent } from "../engine/trace-event.ts";
import type { ResponseObject } from "../protocol/response.ts";

export interface RunObserver {
  /** A warning for the operator. */
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  loopEvent(event: LoopEvent, responseId: string): void;
  /** What a trace has, also where none is kept. */
  traceEvent(event: RunTraceEvent, responseId: string, owner: string): void;
  runEnded(response: ResponseObject, failure: Error | undefined, owner: string): void;
}
