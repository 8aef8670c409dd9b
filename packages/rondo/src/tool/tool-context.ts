// What a tool's function gets besides its input.

import type { Agent } from "../agent/agent.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { Turn } from "../turn/turn.ts";

export interface ToolContext {
  /** Aborted on timeout, cancel, or when the run is left. Pass it on to whatever the tool waits for. */
  readonly signal: AbortSignal;
  /** The turn as which the tool runs. */
  readonly turn: Turn;
  /** The agent that runs the turn, with its context; none outside an agent. */
  readonly agent?: Agent;
  readonly contextQueue?: ContextQueue;
  readonly contextPool?: ContextPool;
  /** The id of the model's call, if a model made it. */
  readonly callId?: string;
  /** The same each time this turn runs, also after a restore: lets a tool do its work only once. */
  readonly idempotencyKey: string;
  /** 1 for the first run of the turn, and one more for each run after it. */
  readonly attempt: number;
}
