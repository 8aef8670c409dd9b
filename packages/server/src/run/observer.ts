// Who is told what happens in runs: logs and metrics.

import type { LoopEvent } from "rondo";
import type { ResponseObject } from "../protocol/response.ts";

export interface RunObserver {
  /** Something that an operator should know, with what it is about. */
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  loopEvent(event: LoopEvent): void;
  runEnded(response: ResponseObject, failure: Error | undefined): void;
}
