// A tool runs only as a turn, yet turns are built on tools. So that imports point one way, `turn/` registers its
// runner here when it is loaded.

import type { Tracer } from "../trace/trace.ts";
import type { AnyTool } from "./tool.ts";

export interface ExecuteOptions {
  /** Aborts the tool. */
  signal?: AbortSignal;
  /** Time for the tool's code. Default: the tool's own, else 60,000. */
  timeoutMs?: number;
  /** How long an aborted tool may clean up before it is abandoned. Default: 1,000. */
  graceMs?: number;
  /** Records what happens, and when. Default: nobody listens. */
  tracer?: Tracer;
}

/** Runs a tool as a turn: returns a promise of its value, or the run of its stream. */
type TurnRunner = (tool: AnyTool, input: object | undefined, options: ExecuteOptions) => unknown;

let runner: TurnRunner | undefined;

export function provideTurns(run: TurnRunner): void {
  runner = run;
}

export function runAsTurn(tool: AnyTool, input: object | undefined, options: ExecuteOptions): unknown {
  if (!runner)
    throw new Error("The turns are not loaded: import tools from 'rondo', not from its inner files.");
  return runner(tool, input, options);
}
