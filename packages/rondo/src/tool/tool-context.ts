// What a tool's function receives besides its input.

import type { Agent } from "../agent/agent.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { Tracer } from "../trace/trace.ts";
import type { Turn } from "../turn/turn.ts";

export interface ToolContext {
  /** Aborted on timeout, on cancel, or when the run is left. Pass it on to everything the tool waits for. */
  readonly signal: AbortSignal;
  /** The turn that runs the tool. */
  readonly turn: Turn;
  /** The agent that runs the turn, with its context; undefined outside an agent. */
  readonly agent?: Agent;
  readonly contextQueue?: ContextQueue;
  readonly contextPool?: ContextPool;
  /** The id of the model's call, if a model made it. */
  readonly callId?: string;
  /** The same for each run of this turn, also after a restore: lets a tool do its work only once. */
  readonly idempotencyKey: string;
  /** 1 for the first run of the turn, 2 for the second, and so on. */
  readonly attempt: number;
  /**
   * Records what happens in the run, if somebody listens: pass it on as `tracer` to turns, and as `onTrace` to what
   * else the tool runs. Its `headers({ turnId: turn.uuid })` connect a request to the trace.
   */
  readonly tracer?: Tracer;
}
