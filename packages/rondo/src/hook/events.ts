// All events that hooks can follow, with the arguments that each of them passes.

import type { Agent } from "../agent/agent.ts";
import type { ContextItem } from "../context/context-item.ts";
import type { ContextPool } from "../context/context-pool.ts";
import type { ContextQueue } from "../context/context-queue.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { Turn } from "../turn/turn.ts";
import type { StopReason } from "../turn/turn-state.ts";

/** The last argument of every hook: what is going on around it. */
export interface HookContext {
  /** The tool whose turn it is. */
  readonly tool?: AnyTool;
  readonly turn?: Turn;
  /** The agent on whose behalf it happens, if there is one. */
  readonly agent?: Agent;
  readonly queue?: ContextQueue;
  readonly pool?: ContextPool;
  /** Aborted when whoever started the run gives up on it; never where nothing can be aborted. */
  readonly signal: AbortSignal;
  /** The hook's own fixed values, with lazy ones resolved for this call. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** The arguments of each event, without the `HookContext` that follows them. */
export interface HookEvents {
  /** The tool is about to run. Gets the validated input. Throwing stops it. */
  "tool.beforeInvoke": [input: Readonly<Record<string, unknown>>];
  /** A streaming tool has yielded a value. */
  "tool.onYield": [value: unknown];
  /** The tool has ended well, with its result or the list of its values; or a stream was left, with what came. */
  "tool.afterInvoke": [result: unknown];
  /** The tool's function has thrown. Silent on timeout and cancel. */
  "tool.onError": [error: unknown];

  "turn.beforeRun": [turn: Turn];
  /** The turn has completed. Silent on error, timeout and cancel. */
  "turn.afterRun": [turn: Turn, output: unknown];
  "turn.onTimeout": [turn: Turn];
  /** The turn has failed, but not by timeout or cancel. */
  "turn.onError": [turn: Turn, error: unknown];
  /** The turn has ended, however it did. */
  "turn.onComplete": [turn: Turn, stopReason: StopReason];

  /** The next turn is about to be taken from the queue. Throwing leaves it there. */
  "agent.beforeTurn": [agent: Agent];
  /** A turn has ended well and all its values were passed on. */
  "agent.afterTurn": [agent: Agent, turn: Turn];
  /** A turn has produced a value. It sees turns and context items too, which are routed and not yielded. */
  "agent.onTurnValue": [agent: Agent, turn: Turn, value: unknown];
  /** A turn is about to be queued. Throwing keeps it out. */
  "agent.beforePut": [agent: Agent, turn: Turn];
  "agent.afterPut": [agent: Agent, turn: Turn];
  /** A paused run has reached the gate with work left. */
  "agent.onPause": [agent: Agent];
  "agent.onResume": [agent: Agent];

  /** Items are about to be appended. Throwing keeps all of them out. */
  "queue.beforeAppend": [
    queue: ContextQueue,
    incoming: readonly ContextItem[],
    current: readonly ContextItem[],
  ];
  "queue.afterAppend": [appended: readonly ContextItem[], current: readonly ContextItem[]];
  "queue.beforeClear": [queue: ContextQueue, current: readonly ContextItem[]];
  "queue.afterClear": [queue: ContextQueue];
  /** The oldest item is about to make room; it is still there. */
  "queue.onEvict": [queue: ContextQueue, oldest: ContextItem];

  /** An item is about to be added. Throwing keeps it out, and nothing is evicted. */
  "pool.beforeAdd": [pool: ContextPool, item: ContextItem];
  "pool.afterAdd": [pool: ContextPool, item: ContextItem];
  "pool.beforeRemove": [pool: ContextPool, item: ContextItem];
  "pool.afterRemove": [pool: ContextPool, item: ContextItem];
  "pool.beforeClear": [pool: ContextPool, current: ReadonlyMap<string, ContextItem>];
  "pool.afterClear": [pool: ContextPool];
  /** The oldest item is about to make room; it is still there. */
  "pool.onEvict": [pool: ContextPool, oldest: ContextItem];
}

export type HookEvent = keyof HookEvents;

/** A hook for one event, or for several: then it gets each event's own arguments. Must be an async function. */
export type HookFunction<E extends HookEvent = HookEvent> = (
  ...args: [...HookEvents[E], context: HookContext]
) => Promise<unknown>;

/** Every event there is. */
export const hookEvents = [
  "tool.beforeInvoke",
  "tool.onYield",
  "tool.afterInvoke",
  "tool.onError",
  "turn.beforeRun",
  "turn.afterRun",
  "turn.onTimeout",
  "turn.onError",
  "turn.onComplete",
  "agent.beforeTurn",
  "agent.afterTurn",
  "agent.onTurnValue",
  "agent.beforePut",
  "agent.afterPut",
  "agent.onPause",
  "agent.onResume",
  "queue.beforeAppend",
  "queue.afterAppend",
  "queue.beforeClear",
  "queue.afterClear",
  "queue.onEvict",
  "pool.beforeAdd",
  "pool.afterAdd",
  "pool.beforeRemove",
  "pool.afterRemove",
  "pool.beforeClear",
  "pool.afterClear",
  "pool.onEvict",
] as const satisfies readonly HookEvent[];
